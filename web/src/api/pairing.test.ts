import { describe, expect, it, vi } from "vitest";
import { pair } from "./pairing";
import type { Connect, TransportEvents } from "./socket";

/** A relay that answers a request with these frames. */
function relay(answers: unknown[]): { connect: Connect; sent: unknown[]; close: ReturnType<typeof vi.fn> } {
  const sent: unknown[] = [];
  const close = vi.fn();
  const connect = (events: TransportEvents) => {
    queueMicrotask(() => events.opened());
    const send = (text: string) => {
      sent.push(JSON.parse(text));
      for (const answer of answers) events.received(JSON.stringify(answer));
    };
    return { send, close };
  };
  return { connect, sent, close };
}

const offer = { pairId: "p", secret: "s" };
const asked = { type: "pair_request_result", payload: { success: true, code: "123456" } };

describe("pairing", () => {
  it("sends the secret, shows the digits and gives the token", async () => {
    const { connect, sent, close } = relay([asked, { type: "pair_result", payload: { success: true, token: "t" } }]);
    const compare = vi.fn();
    expect(await pair(connect, offer, "Phone", compare)).toBe("t");
    expect(sent).toEqual([{ type: "pair_request", payload: { pairId: "p", secret: "s", name: "Phone" } }]);
    expect(compare).toHaveBeenCalledWith("123456");
    expect(close).toHaveBeenCalled();
  });

  it("says whether the secret was wrong or the person said no", async () => {
    const wrong = relay([{ type: "pair_request_result", payload: { success: false, error: "no" } }]);
    await expect(pair(wrong.connect, offer, "Phone", vi.fn())).rejects.toMatchObject({ why: "failed" });
    const turned = relay([asked, { type: "pair_result", payload: { success: false, error: "no" } }]);
    await expect(pair(turned.connect, offer, "Phone", vi.fn())).rejects.toMatchObject({ why: "rejected" });
  });
});
