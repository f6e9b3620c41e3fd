// Tests of the real page in Chromium, over the stand-in of `dev/`. `npm run e2e` builds it first.
import { defineConfig } from "vitest/config";
import { secondTry } from "../scripts/second-try.ts";

export default defineConfig({
  test: {
    root: new URL(".", import.meta.url).pathname,
    include: ["**/*.e2e.ts"],
    // Limits are for what would never come; a busy machine takes long for what is certain to.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // One browser at a time: the figures mean something only when nothing else runs.
    fileParallelism: false,
    ...secondTry(process.env),
  },
});
