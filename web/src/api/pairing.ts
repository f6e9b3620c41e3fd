/**
 * How this device joins: the secret from a machine's link, digits to compare, and the yes of a person at the machine.
 *
 * Runs on a connection of its own; the token that comes back is this device's secret from then on.
 */
import type { DeviceToRelay } from "@/gen";
import type { Frame } from "@/model/world";
import type { Connect, Transport } from "./socket";

export interface Offer {
  pairId: string;
  secret: string;
}

/** Why it did not work: the secret is not good (any more), the person said no, or nobody answered. */
export type PairFailure = "failed" | "rejected" | "unreachable";

export class PairError extends Error {
  constructor(readonly why: PairFailure) {
    super(why);
  }
}

/** Longest wait for the relay's first answer. After it the offer's own life is the limit. */
const ANSWER_MS = 10_000;

/** Asks to join; tells the digits to compare through `compare`, and gives the token once the person agreed. */
export function pair(connect: Connect, offer: Offer, name: string, compare: (code: string) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let transport: Transport | null = null;
    let isWaiting = false;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      transport?.close();
      settle();
    };
    const fail = (why: PairFailure) => end(() => reject(new PairError(why)));
    const timer = setTimeout(() => fail("unreachable"), ANSWER_MS);
    const received = (text: string) => {
      const frame = JSON.parse(text) as Frame;
      if (frame.type === "pair_request_result") {
        if (!frame.payload.success) return fail("failed");
        clearTimeout(timer);
        isWaiting = true;
        compare(frame.payload.code ?? "");
      } else if (frame.type === "pair_result") {
        const { success, token } = frame.payload;
        if (success && token) end(() => resolve(token));
        else fail("rejected");
      }
    };
    const opened = () => {
      const request: DeviceToRelay = { type: "pair_request", payload: { ...offer, name } };
      transport?.send(JSON.stringify(request));
    };
    transport = connect({ opened, received, closed: () => fail(isWaiting ? "failed" : "unreachable") });
  });
}
