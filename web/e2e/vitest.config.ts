// Tests of the real page in Chromium, over the stand-in of `dev/`. `npm run e2e` builds it first.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL(".", import.meta.url).pathname,
    include: ["**/*.e2e.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine takes longer than a second for what is certain to come.
    expect: { poll: { timeout: 20_000 } },
    // One browser at a time: the figures mean something only when nothing else runs.
    fileParallelism: false,
  },
});
