// Pictures of every main view over the stand-in: phone and desk, light and dark. Written to `shots/`.

import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../dev/dist/", import.meta.url));
const out = fileURLToPath(new URL("../shots/", import.meta.url));
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
  ".png": "image/png",
};
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** The fonts that most people have are not on a bare machine: `SHOTS_STYLE` names a style sheet that brings others. */
const style = process.env.SHOTS_STYLE
  ? readFileSync(process.env.SHOTS_STYLE, "utf8")
  : 'body { font-family: Roboto, "Noto Sans CJK KR", "Noto Color Emoji", sans-serif !important }';
const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  desk: { width: 1280, height: 800 },
  wide: { width: 1600, height: 1000 },
};
/** Taken unless others are named. */
const USUAL = ["phone", "desk"];

const args = process.argv.slice(2);
const scenes = args[0]
  ? args[0].split(",")
  : [
      "chat",
      "permission",
      "question",
      "plan",
      "working",
      "failed",
      "fresh",
      "hostile",
      "changes",
      "files",
      "chat&panel=changes",
      "chat&panel=tasks",
      "chat&panel=terminal",
      "chat&panel=usage",
      "inbox",
      "list",
      "settings",
      "work",
      "terminals",
      "terminal",
      "worktrees",
      "deploy",
      "saved",
      "usage",
      "rules",
      "lost",
      "pairing",
      "empty",
    ];
const sizes = args[1] ? args[1].split(",") : USUAL;
const themes = args[2] ? args[2].split(",") : ["dark", "light"];
const languages = args[3] ? args[3].split(",") : ["en"];

const server = createServer((request, response) => {
  const path = new URL(request.url, "http://x").pathname;
  try {
    const file = join(root, path === "/" ? "index.html" : path);
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(file));
  } catch {
    response.statusCode = 404;
    response.end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;
mkdirSync(out, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
for (const size of sizes) {
  const context = await browser.newContext({
    viewport: SIZES[size],
    deviceScaleFactor: size === "phone" ? 2 : 1,
    bypassCSP: true,
    hasTouch: size === "phone" || size === "tablet",
  });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && console.error(`${message.text()}`));
  page.on("pageerror", (error) => console.error(`page error: ${error.message}`));
  for (const scene of scenes) {
    for (const theme of themes) {
      for (const language of languages) {
        await page.goto("about:blank");
        await page.goto(`${address}?scene=${scene}&theme=${theme}&lang=${language}`);
        await page.waitForFunction(() => document.getElementById("root")?.childElementCount);
        await page.addStyleTag({ content: style });
        // The panel shows most when something in it is open.
        if (scene.endsWith("panel=changes")) await page.locator("#panel-view li button").first().click();
        if (scene.endsWith("panel=terminal")) await page.locator("#panel-view a[href$='/t-shell']").click();
        await page.waitForTimeout(scene === "lost" ? 1500 : 700);
        const name = `${scene.replace("&panel=", "-beside-")}-${size}-${theme}${language === "en" ? "" : `-${language}`}.png`;
        await page.screenshot({ path: join(out, name) });
      }
    }
  }
  await context.close();
}
await browser.close();
server.close();
