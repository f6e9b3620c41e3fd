import { describe, expect, it } from "vitest";
import { DELAYS_MS, FIRST_MS, LASTED_MS } from "@/gateway/index";
import { type Effect, type Input, isRest, type Phase, PING_MS, SILENCE_MS, step, UNPAIRED, wakeAt } from "./connection";

/** Runs inputs and collects what was asked of the socket. */
function run(inputs: [Input["type"] | Input, number][], from: Phase = UNPAIRED) {
  let phase = from;
  const asked: string[] = [];
  for (const [input, now] of inputs) {
    const next = step(phase, typeof input === "string" ? ({ type: input } as Input) : input, now);
    phase = next.phase;
    asked.push(...next.effects.map((effect: Effect) => effect.type));
  }
  return { phase, asked };
}

const accepted: Input = { type: "authenticated", result: { success: true, rights: ["view"] } };
const online = () =>
  run([
    ["start", 0],
    ["opened", 1],
    [accepted, 2],
  ]).phase;

describe("connection", () => {
  it("authenticates as soon as the socket is open", () => {
    const { phase, asked } = run([
      ["start", 0],
      ["opened", 10],
      [accepted, 20],
    ]);
    expect(asked).toEqual(["open", "authenticate"]);
    expect(phase).toMatchObject({ name: "online", rights: ["view"] });
  });

  it("tries again at once after a loss, then after 1, 2, 4, 8 and 16 s, then leaves it to REST", () => {
    let now = 2 + LASTED_MS;
    let phase = step(online(), { type: "closed" }, now).phase;
    const waits = [];
    while (phase.name === "waiting" && waits.length < 20) {
      waits.push(phase.until - now);
      now = phase.until;
      phase = step(phase, { type: "wake" }, now).phase;
      expect(phase.name).toBe("connecting");
      phase = step(phase, { type: "closed" }, now).phase;
    }
    expect(waits).toEqual([FIRST_MS, ...DELAYS_MS]);
    expect(isRest(phase)).toBe(true);
    expect(wakeAt(phase)).toBeNull();
  });

  it("does not try for ever at once where connections break as soon as they stand", () => {
    let [phase, now] = [online(), 10];
    const waits = [];
    for (let round = 0; round < 20; round++) {
      phase = step(phase, { type: "closed" }, now).phase;
      if (phase.name !== "waiting") break;
      waits.push(phase.until - now);
      now = phase.until;
      const again = run(
        [
          ["wake", now],
          ["opened", now],
          [accepted, now],
        ],
        phase,
      );
      phase = again.phase;
      expect(phase.name).toBe("online");
    }
    expect(waits).toEqual([FIRST_MS, ...DELAYS_MS]);
    expect(isRest(phase)).toBe(true);
  });

  it("starts over when the person, the network or the page comes back", () => {
    const { phase, asked } = run([["poke", 5]], { name: "fallback", lostAt: 0 });
    expect(phase).toMatchObject({ name: "connecting", failures: 0 });
    expect(asked).toEqual(["open"]);
  });

  it("does not wait longer than told before the next try", () => {
    const waiting: Phase = { name: "waiting", failures: 1, until: 1_000, lostAt: 0 };
    expect(run([["wake", 999]], waiting)).toEqual({ phase: waiting, asked: [] });
    expect(run([["wake", 1_000]], waiting).asked).toEqual(["open"]);
  });

  it("asks a silent relay whether it is there, and does not believe a dead socket", () => {
    const start = online();
    expect(run([["wake", 2 + PING_MS]], start).asked).toEqual(["ping"]);
    const silent = run(
      [
        ["wake", 2 + PING_MS],
        ["wake", 2 + SILENCE_MS],
      ],
      start,
    );
    expect(silent.asked).toEqual(["ping", "close"]);
    expect(silent.phase.name).toBe("waiting");
    const alive = run(
      [
        ["wake", 2 + PING_MS],
        ["heard", 15_000],
        ["wake", 2 + SILENCE_MS],
      ],
      start,
    );
    expect(alive.phase.name).toBe("online");
  });

  it("does not go on with a device that was refused, but does with a relay that is busy", () => {
    const refused: Input = { type: "authenticated", result: { success: false, error: "revoked", retry: "never" } };
    const busy: Input = { type: "authenticated", result: { success: false, error: "busy", retry: "later" } };
    expect(
      run([
        ["start", 0],
        ["opened", 1],
        [refused, 2],
        ["closed", 3],
      ]).phase,
    ).toEqual({ name: "refused", error: "revoked" });
    expect(
      run([
        ["start", 0],
        ["opened", 1],
        [busy, 2],
        ["closed", 3],
      ]).phase,
    ).toMatchObject({ name: "waiting", failures: 1 });
  });

  it("gives up a socket that never opens", () => {
    const { phase, asked } = run([
      ["start", 0],
      ["wake", 10_000],
    ]);
    expect(asked).toEqual(["open", "close"]);
    expect(phase.name).toBe("waiting");
  });
});
