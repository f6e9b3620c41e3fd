/** The relay alone is killed and comes back: Pylon, host and the turn go on, and nobody misses anything. */
import { describe, expect, it } from "vitest";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

/** What was missed shows within this time after the connection is back. */
const CATCH_UP_MS = 1_000;

describe.skipIf(!hasMachine)("the relay alone", () => {
  const stage = rig({ workspace: "garden" });

  it("is killed in mid-turn: what was missed shows within a second of its return, and what was written is sent once", async () => {
    const { machine } = stage;
    await machine.takeApart();
    const isThere = () =>
      fetch(machine.address).then(
        (answer) => answer.ok,
        () => false,
      );
    await expect.poll(isThere).toBe(true);
    const desk = await stage.open("Desk");
    await desk.makeConversation(`Talk ${stage.next()}`);
    await desk.send(script("Count.", { say: "uno due tre quattro", chunks: 4, gate: "relay", gate_at: 2 }));
    await desk.said("uno due").waitFor();
    await machine.killRelay();
    await desk.page.getByText("Connection lost").first().waitFor();
    machine.openGate("relay");
    await desk.send(script("And then?", { say: "cinque" }));
    await desk.log.getByText("Waits for the connection").waitFor();
    // In the page, because a test that asks from outside is slower than what it measures.
    const caughtUp = desk.page.evaluate(async () => {
      const isLost = () => document.body.textContent.includes("Connection lost");
      const isMissed = () =>
        ![...document.querySelectorAll("[role=log] p")].some((one) => one.textContent === "uno due tre quattro");
      while (isLost()) await new Promise(requestAnimationFrame);
      const back = performance.now();
      while (isMissed()) await new Promise(requestAnimationFrame);
      return performance.now() - back;
    });
    await machine.startRelay();
    await expect.poll(isThere).toBe(true);
    const ms = await caughtUp;
    console.log(`What was missed showed ${ms.toFixed(0)} ms after the connection was back`);
    expect(ms).toBeLessThan(CATCH_UP_MS);
    await desk.said("cinque").waitFor();
    for (const words of ["uno due tre quattro", "cinque"]) expect(await desk.said(words).count()).toBe(1);
    await desk.page.reload();
    await desk.said("cinque").waitFor();
    for (const words of ["uno due tre quattro", "cinque"]) expect(await desk.said(words).count()).toBe(1);
  });
});
