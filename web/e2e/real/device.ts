/** A device of a person: a browser with a store of its own, on the page that the machine serves. */
import type { Browser, Page } from "playwright-core";
import { DESK, PATIENCE_MS } from "../browser";
import type { Machine } from "./machine";

export interface DeviceOptions {
  size?: { width: number; height: number };
  theme?: "dark" | "light";
  /** The secret of a device that was let in; without it the page asks to be paired. */
  token?: string;
}

export class Device {
  private constructor(
    readonly page: Page,
    /** What went wrong on the page. */
    readonly errors: string[],
    /** What it asked for that is not of the machine. */
    readonly strangers: string[],
  ) {}

  static async open(browser: Browser, machine: Machine, options: DeviceOptions = {}): Promise<Device> {
    const { size = DESK, theme = "dark", token } = options;
    const context = await browser.newContext({
      viewport: size,
      hasTouch: size.width < 600,
      locale: "en-US",
      colorScheme: theme,
      // The checker is put in from outside, which the page's own rules forbid.
      bypassCSP: true,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const errors: string[] = [];
    const strangers: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => request.url().startsWith(machine.address) || strangers.push(request.url()));
    const keep = (secret: string) => localStorage.setItem("estelle.token", JSON.stringify(secret));
    if (token !== undefined) await page.addInitScript(keep, token);
    await page.goto(machine.address);
    return new Device(page, errors, strangers);
  }

  /** Goes to a conversation by its name in the list. */
  async enter(name: string): Promise<void> {
    await this.page
      .getByRole("link", { name: new RegExp(name) })
      .first()
      .click();
    await this.field.waitFor();
  }

  get field() {
    return this.page.getByLabel("Message to Claude");
  }

  get log() {
    return this.page.getByRole("log");
  }

  async send(words: string): Promise<void> {
    await this.field.fill(words);
    await this.page.getByRole("button", { name: "Send", exact: true }).click();
  }

  /** What the agent said, and not what it was told to say. */
  said(words: string | RegExp) {
    return this.log.locator("p").filter({ hasText: words });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
