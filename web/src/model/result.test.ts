import { expect, it } from "vitest";
import type { ClaudeEvent } from "@/gen";
import { EMPTY, fold } from "./transcript";

const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 };

/** The models that the row at the end of a turn names. */
function modelsAfter(...events: object[]): readonly string[] | undefined {
  const message = (event: object, index: number) => ({
    workspaceId: "ws",
    conversationId: "a",
    event: event as ClaudeEvent,
    seq: index + 1,
    epoch: 1,
  });
  const transcript = events.reduce<typeof EMPTY>(
    (known, event, index) => fold(known, message(event, index), 1).transcript,
    { ...EMPTY, load: "ready", epoch: 1 },
  );
  const last = transcript.entries.top.at(-1);
  return last?.kind === "result" ? last.models : undefined;
}

it("names the models that answered, not the one that the process began with", () => {
  const begun = { type: "init", sessionId: "s", model: "claude-opus-4-6", tools: [] };
  const result = { type: "result", subtype: "success", duration_ms: 1, num_turns: 1, usage: USAGE };
  const share = (model: string, costUsd: number) => ({ model, costUsd, usage: USAGE });
  const models = [share("claude-haiku-4-5", 0.01), share("claude-sonnet-4-5", 0.4)];
  expect(modelsAfter(begun, { ...result, models })).toEqual(["claude-sonnet-4-5", "claude-haiku-4-5"]);
  // Where the CLI does not tell, the beginning is the best that is known.
  expect(modelsAfter(begun, result)).toEqual(["claude-opus-4-6"]);
  expect(modelsAfter(result)).toBeUndefined();
});
