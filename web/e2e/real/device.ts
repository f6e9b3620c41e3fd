/** A device of a person: a browser with a store of its own, on the page that the machine serves. */
import type { Browser, Page } from "playwright-core";
import { DESK, PATIENCE_MS } from "../browser";
import type { Machine } from "./machine";

export interface DeviceOptions {
  size?: { width: number; height: number };
  theme?: "dark" | "light";
  /** The secret of a device that was let in; without it the page asks to be paired. */
  token?: string;
  /** What the page finds when it begins. */
  before?: () => void;
  /** The view that is opened first, as `list`. */
  at?: string;
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
    const { size = DESK, theme = "dark", token, before, at } = options;
    const context = await browser.newContext({
      viewport: size,
      hasTouch: size.width < 600,
      locale: "en-US",
      colorScheme: theme,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const errors: string[] = [];
    const strangers: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    const isRefusal = (words: string) => /Content Security Policy|Trusted/.test(words);
    page.on(
      "console",
      (said) =>
        isRefusal(said.text()) &&
        errors.push(`${said.text().slice(0, 90)} ${said.location().url}:${said.location().columnNumber}`),
    );
    // A picture that the page itself has made is asked of nobody.
    const isOwn = (url: string) => url.replace(/^blob:/, "").startsWith(machine.address);
    page.on("request", (request) => isOwn(request.url()) || strangers.push(request.url()));
    const keep = (secret: string) => localStorage.setItem("estelle.token", JSON.stringify(secret));
    if (token !== undefined) await page.addInitScript(keep, token);
    if (before) await page.addInitScript(before);
    await page.goto(at === undefined ? machine.address : `${machine.address}/#/${at}`);
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

  /** Makes a workspace of a folder of the home and waits for its first conversation. */
  async makeWorkspace(folder: string): Promise<void> {
    await this.page.getByRole("button", { name: "New workspace" }).first().click();
    const dialog = this.page.getByRole("dialog", { name: "New workspace" });
    await dialog.getByRole("button", { name: folder }).click();
    await dialog.locator(`input[value$="/${folder}"]`).waitFor();
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    // The conversation before may be as empty, and is behind the dialog; its folder tells them apart.
    await this.page.getByText(`/${folder} and asks before`).waitFor();
  }

  /** Makes a conversation and opens it. */
  async makeConversation(name: string): Promise<void> {
    const { page } = this;
    await page.getByRole("button", { name: "New conversation" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New conversation" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(name);
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
    await page.getByText("Say what you want done.").waitFor();
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
