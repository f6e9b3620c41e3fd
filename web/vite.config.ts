// The build of the product: one page, hashed files, a service worker that knows them, and no third party.
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { pageRules } from "./scripts/page-rules.ts";
import { secondTry } from "./scripts/second-try.ts";
import { terminalStyles } from "./scripts/terminal-styles.ts";

export default defineConfig({
  plugins: [react(), tailwindcss(), pageRules(), terminalStyles()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  worker: { format: "es" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { index: "index.html", sw: "src/sw.ts" },
      output: { entryFileNames: (chunk) => (chunk.name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.{ts,tsx}", "scripts/**/*.test.ts"],
    testTimeout: 60_000,
    ...secondTry(process.env),
  },
});
