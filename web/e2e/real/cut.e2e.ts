/** WebSockets are cut on the way, as some networks do: the app goes on over HTTP, and comes back to a socket. */
import { existsSync } from "node:fs";
import type { WebSocketRoute } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

/** What the longest wait between two tries is, and a little more. */
const A_TRY_MS = 17_000;

describe.skipIf(!hasMachine)("where no WebSocket gets through", () => {
  const stage = rig({ workspace: "garden" });

  it("an app talks and decides over HTTP, and is live again when sockets get through", async () => {
    const desk = await stage.open("Desk", { rights: "view,prompt,approve" });
    const { page } = desk;
    await desk.makeConversation(`Cut ${stage.next()}`);

    let isCut = false;
    const open = new Set<WebSocketRoute>();
    await page.routeWebSocket(/^ws:/, (socket) => {
      if (isCut) return void socket.close();
      socket.connectToServer();
      open.add(socket);
    });
    await page.clock.install();
    await page.reload();
    await page.getByText("Say what you want done.").waitFor();

    isCut = true;
    for (const socket of open) await socket.close();
    const isGivenUp = async () => {
      await page.clock.fastForward(A_TRY_MS);
      return page.getByText("Messages go out one by one over HTTP").count();
    };
    await expect.poll(isGivenUp).toBeGreaterThan(0);

    const file = stage.machine.path("home/garden/basil.txt");
    const write = { tool: "Write", input: { file_path: file, content: "green" } };
    await desk.send(script("Plant.", write, { say: "It is planted" }));
    await page.getByRole("button", { name: "Allow once" }).click();
    await desk.said("It is planted").waitFor();
    expect(existsSync(file)).toBe(true);

    isCut = false;
    await page.getByRole("button", { name: "Try now" }).first().click();
    await page.getByText("Messages go out one by one over HTTP").first().waitFor({ state: "detached" });
    await desk.send(script("And?", { say: "It grows" }));
    await desk.said("It grows").waitFor();
    for (const words of ["It is planted", "It grows"]) expect(await desk.said(words).count()).toBe(1);
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(2);
  });
});
