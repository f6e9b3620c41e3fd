// The app over a stand-in for relay and machines, for looking at every view without either. Not part of the product.
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { pageRules } from "../scripts/page-rules.ts";
import { terminalStyles } from "../scripts/terminal-styles.ts";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: fileURLToPath(new URL("../public", import.meta.url)),
  plugins: [react(), tailwindcss(), pageRules(), terminalStyles()],
  resolve: { alias: { "@": fileURLToPath(new URL("../src", import.meta.url)) } },
  worker: { format: "es" },
  server: { host: "127.0.0.1" },
  build: {
    outDir: fileURLToPath(new URL("./dist", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
  },
});
