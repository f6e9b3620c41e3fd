/** Chromium on the stand-in's page: a server for the built files, one browser, a page per test. */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const ROOT = fileURLToPath(new URL("../dev/dist/", import.meta.url));
const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  // A small shared memory, as in containers, would otherwise end a page now and then.
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** How long a test waits for what is certain to come, on a machine that does much else. */
export const PATIENCE_MS = 60_000;

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 800 };

export interface Visit {
  scene: string;
  size?: { width: number; height: number };
  theme?: "dark" | "light";
  language?: "en" | "ko" | "ja";
  more?: string;
  /** A page of this device has visited already: the next one is another tab of it. */
  beside?: Page;
}

/** A page with what it asked of the network and what went wrong on it. */
export interface Visited {
  page: Page;
  requests: string[];
  errors: string[];
}

export function launch(): Promise<Browser> {
  const executablePath = process.env.ESTELLE_CHROMIUM ?? PROGRAMS.find((program) => existsSync(program));
  return chromium.launch({ executablePath, args: FLAGS });
}

export class Stage {
  #server: Server | null = null;
  #browser: Browser | null = null;

  async open(): Promise<void> {
    this.#server = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://x").pathname;
      const file = join(ROOT, path === "/" ? "index.html" : path);
      if (!existsSync(file)) {
        response.statusCode = 404;
        response.end();
        return;
      }
      response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
      response.end(readFileSync(file));
    });
    await new Promise<void>((done) => this.#server?.listen(0, "127.0.0.1", done));
    this.#browser = await launch();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    this.#server?.close();
  }

  get browser(): Browser {
    if (!this.#browser) throw new Error("the stage is not open");
    return this.#browser;
  }

  get address(): string {
    const address = this.#server?.address() as AddressInfo | undefined;
    return `http://127.0.0.1:${address?.port}/`;
  }

  /** Opens a scene and waits until the app is drawn. */
  async visit({ scene, size = DESK, theme = "dark", language = "en", more = "", beside }: Visit): Promise<Visited> {
    const page = await (beside?.context() ?? (await this.#device(size))).newPage();
    const requests: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(`${this.address}?scene=${scene}&theme=${theme}&lang=${language}${more}`);
    await page.waitForFunction(() => (document.getElementById("root")?.childElementCount ?? 0) > 0);
    return { page, requests, errors };
  }

  async #device(size: { width: number; height: number }): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      viewport: size,
      hasTouch: size === PHONE,
      locale: "en-US",
      // What is looked at must not be in the middle of a movement.
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  }
}
