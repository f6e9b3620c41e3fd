// What is measured in Chromium, for `cargo xtask bench e2e`.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL(".", import.meta.url).pathname,
    include: ["**/*.bench.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
