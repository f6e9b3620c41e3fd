/**
 * Requests with one answer: each carries an id of its own, and the answer that echoes it settles a promise.
 *
 * Answers that the world folds as well (lists, pages) go their usual way too; this only tells the asker how it went.
 */
import type { ErrorCode } from "@/gen";
import type { Frame } from "@/model/world";

/** Longest wait for an answer. */
const LIMIT_MS = 15_000;

export class RequestError extends Error {
  constructor(
    message: string,
    readonly code?: ErrorCode | "offline" | "timeout",
  ) {
    super(message);
  }
}

interface Waiting {
  settle(frame: Frame): boolean;
  fail(error: RequestError): void;
}

export class Requests {
  #waiting = new Map<string, Waiting>();

  /** Waits for the answer to `requestId`. `isLast` says whether more frames of it follow. */
  wait<T>(requestId: string, read: (frame: Frame) => { value: T } | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(new RequestError("", "timeout")), LIMIT_MS);
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(requestId);
      };
      const fail = (error: RequestError) => {
        done();
        reject(error);
      };
      const settle = (frame: Frame) => {
        const answer = read(frame);
        if (answer === null) return false;
        done();
        resolve(answer.value);
        return true;
      };
      this.#waiting.set(requestId, { settle, fail });
    });
  }

  /** Offers a frame to whoever waits for it; true if it was an error report that somebody waited for. */
  offer(frame: Frame): boolean {
    const payload = frame.payload as
      | { requestId?: string; success?: boolean; error?: string; errorCode?: ErrorCode }
      | undefined;
    const waiting = payload?.requestId ? this.#waiting.get(payload.requestId) : undefined;
    if (!waiting || !payload) return false;
    if (frame.type === "error" || payload.success === false) {
      waiting.fail(new RequestError(payload.error ?? "", payload.errorCode));
      return frame.type === "error";
    }
    waiting.settle(frame);
    return false;
  }

  failAll(): void {
    for (const waiting of [...this.#waiting.values()]) waiting.fail(new RequestError("", "offline"));
  }
}
