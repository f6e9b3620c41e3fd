/** Files that go with a message: to a real machine, through reloads and losses in the middle of them. */
import { readFileSync } from "node:fs";
import type { Locator } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import type { Device } from "./device";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

const CHUNK_BYTES = 65_536;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJRU5ErkJggg==";
const picture = { name: "roses.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") };
const notes = { name: "장미 notes.txt", mimeType: "text/plain", buffer: Buffer.alloc(3 * CHUNK_BYTES + 7, "rose ") };
const large = { name: "large.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(16 * CHUNK_BYTES, 7) };

interface Watched {
  /** The numbers of the chunks that this page sent. */
  chunks: number[];
}

/** Notes which chunks go out, and holds back all but three of them while the page is told to. */
function watchChunks(): void {
  const page = window as unknown as Watched;
  page.chunks = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    const frame = typeof data === "string" && data.includes("blob_chunk") ? JSON.parse(data) : null;
    if (frame?.type === "blob_chunk") {
      if (sessionStorage.getItem("held") && page.chunks.length >= 3) return;
      page.chunks.push(frame.payload.index);
    }
    send.call(this, data);
  };
}

/** What the agent was told first in a conversation, asked over a connection of its own. */
function told(device: Device, token: string, conversationId: string): Promise<string> {
  return device.page.evaluate(
    ([secret, id]) =>
      new Promise<string>((done) => {
        const socket = new WebSocket(`ws://${location.host}/ws`);
        const say = (message: unknown) => socket.send(JSON.stringify(message));
        socket.onopen = () => say({ type: "auth", payload: { deviceType: "app", token: secret, protocol: 1 } });
        socket.onmessage = ({ data }) => {
          const { type, payload } = JSON.parse(data);
          if (type === "auth_result") say({ type: "workspace_list", broadcast: "pylons" });
          if (type === "workspace_list_result") {
            const { deviceId, workspaces } = payload;
            const wanted = { conversationId: id, workspaceId: workspaces[0].workspaceId, limit: 50, offset: 0 };
            say({ type: "history_request", payload: wanted, to: { deviceId } });
          }
          if (type !== "history_result") return;
          socket.close();
          done(payload.messages[0].content);
        };
      }),
    [token, conversationId] as const,
  );
}

describe.skipIf(!hasMachine)("files for a real machine", () => {
  const stage = rig({ workspace: "garden" });
  let desk: Device;
  let token: string;

  beforeEach(async () => {
    token = stage.machine.device("Desk");
    desk = await stage.come("desk", { token, before: watchChunks });
  });

  async function conversation(): Promise<string> {
    const name = `Files ${stage.next()}`;
    await desk.makeConversation(name);
    return name;
  }

  const chooser = () => desk.page.locator("input[type=file][multiple]");
  const chips = () => desk.page.getByRole("list", { name: "Files for the next message" }).getByRole("listitem");
  const chip = (name: string) => chips().filter({ hasText: name });
  /** Under its name a chip says nothing but its size once its file is there. */
  const isWhole = (one: Locator) => expect.poll(() => one.locator("p").last().textContent()).toMatch(/^[\d.,]+\s\w+$/);
  const sent = () => desk.page.getByRole("article", { name: "You" }).getByRole("list", { name: "Attached files" });
  const sentChunks = () => desk.page.evaluate(() => (window as unknown as Watched).chunks);

  /** Begins with a large file, of which three chunks go through and no more. */
  async function stuck(): Promise<void> {
    await desk.page.evaluate(() => {
      sessionStorage.setItem("held", "yes");
      (window as unknown as Watched).chunks = [];
    });
    await chooser().setInputFiles(large);
    const bar = chip("large.bin").getByRole("progressbar");
    await expect.poll(() => bar.getAttribute("value")).toBe("18");
  }

  /** Sends what is attached, and gives the only file of it as the machine has it. */
  async function arrives(words: string): Promise<Buffer> {
    await desk.send(script("Keep it.", { say: words }));
    await desk.said(words).waitFor();
    const item = sent().getByRole("listitem");
    await expect.poll(() => item.count()).toBe(1);
    await expect.poll(() => item.getAttribute("title")).toMatch(/\/large\.bin$/);
    return readFileSync((await item.getAttribute("title")) ?? "");
  }

  it("sends two files with a message, and tells the agent where they are", async () => {
    await conversation();
    await chooser().setInputFiles([picture, notes]);
    await chip("roses.png").locator("img").waitFor();
    await isWhole(chip("장미 notes.txt"));
    expect(await seriousFindings(desk.page)).toEqual([]);
    await desk.send(script("Look at them.", { say: "I see roses" }));
    await desk.said("I see roses").waitFor();
    await chips().first().waitFor({ state: "detached" });
    const items = sent().getByRole("listitem");
    await expect.poll(async () => (await items.allInnerTexts()).join(" ")).toMatch(/roses\.png.*장미_notes\.txt/s);
    await expect.poll(() => items.first().getAttribute("title")).toContain("/");
    const id = decodeURIComponent(new URL(desk.page.url()).hash.replace("#/c/", ""));
    const prompt = await told(desk, token, id);
    for (const [index, file] of [picture, notes].entries()) {
      const path = (await items.nth(index).getAttribute("title")) ?? "";
      expect(prompt).toContain(`\n- ${path} (${file.buffer.length} bytes)`);
      expect(readFileSync(path).equals(file.buffer)).toBe(true);
    }
    expect(await desk.log.getByText("Attached files:").count()).toBe(0);
  });

  it("keeps what was whole when the page is loaded anew, and goes on with the rest where it was", async () => {
    await conversation();
    await chooser().setInputFiles(notes);
    await isWhole(chip("장미 notes.txt"));
    await stuck();
    await desk.page.reload();
    await desk.page.evaluate(() => sessionStorage.removeItem("held"));
    await chip("large.bin").getByText("Interrupted when the page was loaded anew.").waitFor();
    expect(await desk.page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await chip("장미 notes.txt").getByRole("button", { name: "Remove 장미 notes.txt" }).click();
    await chooser().setInputFiles(large);
    await isWhole(chip("large.bin"));
    expect((await sentChunks())[0]).toBe(3);
    expect((await arrives("kept through a reload")).equals(large.buffer)).toBe(true);
  });

  it("goes on by itself when relay and Pylon were killed in the middle", async () => {
    await conversation();
    await stuck();
    await stage.machine.killUp();
    await desk.page.getByText("Connection lost").waitFor();
    await desk.page.evaluate(() => {
      sessionStorage.removeItem("held");
      (window as unknown as Watched).chunks = [];
    });
    await stage.machine.up();
    await isWhole(chip("large.bin"));
    expect((await sentChunks())[0]).toBe(3);
    expect((await arrives("kept through a loss")).equals(large.buffer)).toBe(true);
  });

  it("takes what is pasted and dropped, refuses what is too much, and sends files without a word", async () => {
    await conversation();
    await desk.field.evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(["x"], "pasted.png", { type: "image/png" }));
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    });
    await chip("pasted.png").waitFor();
    const dataTransfer = await desk.page.evaluateHandle(() => {
      const dragged = new DataTransfer();
      for (let index = 0; index < 10; index++) dragged.items.add(new File(["x"], `dropped-${index}.txt`));
      return dragged;
    });
    await desk.log.dispatchEvent("dragover", { dataTransfer });
    await desk.page.getByText("Drop files here to attach them").waitFor();
    await desk.log.dispatchEvent("drop", { dataTransfer });
    await desk.page.getByText("At most 10 files go with a message; 1 was left out.").waitFor();
    await isWhole(chip("dropped-8.txt"));
    expect(await chips().count()).toBe(10);
    for (let index = 0; index < 9; index++)
      await desk.page.getByRole("button", { name: `Remove dropped-${index}.txt` }).click();
    await desk.page.getByRole("button", { name: "Send", exact: true }).click();
    await sent().getByText("pasted.png").waitFor();
  });

  it("offers the camera where a finger points, and is large enough for it", async () => {
    const phone = await stage.open("Phone", { size: PHONE, at: "list" });
    await phone.makeConversation(`Files ${stage.next()}`);
    const button = phone.page.getByRole("button", { name: "Attach files" });
    const box = await button.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    const isCoarse = await phone.page.evaluate(() => matchMedia("(pointer: coarse)").matches);
    if (isCoarse) {
      await button.click();
      await phone.page.getByRole("menuitem", { name: "Take a photo" }).waitFor();
      expect(await seriousFindings(phone.page)).toEqual([]);
    }
  });
});
