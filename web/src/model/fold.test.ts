/**
 * The fixtures in `fixtures/fold`: what a conversation shows after a list of frames. Other implementations read the same
 * files; the format is in their README.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ClaudeEventMessage, HistoryResult, RewoundStretch } from "@/gen";
import type { Entries, Entry } from "./entries";
import { fromRows } from "./history";
import { EMPTY_WORLD, onFrame, type Turned, view, type World } from "./world";

type Input =
  | { event: ClaudeEventMessage["event"]; seq?: number; epoch?: number; at?: number }
  | { page: Partial<HistoryResult> };

interface Fixture {
  about: string;
  input: Input[];
  /** What the history has of the numbered events. */
  rows?: HistoryResult["messages"];
  view: {
    entries: unknown[];
    open: string[];
    status: string;
    decisions: string[];
    asks: string[];
    waiting?: string[];
    rewound?: RewoundStretch[];
  };
}

const folder = fileURLToPath(new URL("../../../fixtures/fold/", import.meta.url));
const PAGE = {
  deviceId: 1,
  workspaceId: "ws",
  conversationId: "conv",
  messages: [],
  offset: 0,
  totalCount: 0,
  hasMore: false,
  success: true,
};

function frame(input: Input): Parameters<typeof onFrame>[1] {
  if ("page" in input) return { type: "history_result", payload: { ...PAGE, ...input.page } };
  const { event, seq, epoch, at } = input;
  const payload = { workspaceId: "ws", conversationId: "conv", deviceId: 1, event, seq, epoch, timestamp: at };
  return { type: "claude_event", payload };
}

function run(inputs: Input[]): { world: World; asks: string[] } {
  const start = view(EMPTY_WORLD, "conv").world;
  const asks: string[] = [];
  const world = inputs.reduce<World>((world, input) => {
    const turned: Turned = onFrame(world, frame(input), 0);
    // That time passes is no word to a machine.
    asks.push(...turned.asks.map((ask) => ask.type).filter((type) => type !== "settle"));
    return turned.world;
  }, start);
  return { world, asks };
}

/** What a fixture says of an entry: its words, without keys, numbers and times. */
function plain(entry: Entry, entries: Entries): unknown {
  const { key: _key, seq: _seq, at: _at, ...rest } = entry;
  const below = entry.kind === "tool" && entry.toolUseId ? entries.below.get(entry.toolUseId) : undefined;
  const kept = JSON.parse(JSON.stringify(rest, (name, value) => (name === "at" ? undefined : value)));
  return below ? { ...kept, below: below.map((child) => plain(child, entries)) } : kept;
}

describe("fold fixtures", () => {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const fixture = JSON.parse(readFileSync(folder + name, "utf8")) as Fixture;
    it.runIf(fixture.rows)(`${name}: a reload shows the same`, () => {
      const first = fixture.input.find((input) => "page" in input)?.page.messages ?? [];
      const entries = fromRows([...first, ...(fixture.rows ?? [])]);
      expect(entries.top.map((entry) => plain(entry, entries))).toEqual(fixture.view.entries);
    });
    it(`${name}: ${fixture.about}`, () => {
      const { world, asks } = run(fixture.input);
      const transcript = world.transcripts.conv;
      expect({
        entries: transcript?.entries.top.map((entry) => plain(entry, transcript.entries)),
        open: transcript?.open.map((text) => text.text),
        status: transcript?.status,
        decisions: world.decisions.map((one) => one.toolUseId),
        asks,
        waiting: transcript?.waiting,
        rewound: transcript?.rewound,
      }).toEqual({ waiting: [], rewound: [], ...fixture.view });
    });
  }
});
