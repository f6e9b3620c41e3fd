import { describe, expect, it } from "vitest";
import { changeDecision, closed, type Decisions, foldDecisions, isSameCall } from "./decisions";

const origin = (conversationId: string) => ({ deviceId: 1, workspaceId: "w", conversationId });

function asked(decisions: Decisions, conversationId: string, toolUseId: string, inputHash: string, at = 10): Decisions {
  const event = {
    type: "permission_request",
    toolUseId,
    toolName: "Bash",
    toolInput: { command: inputHash },
    inputHash,
  } as const;
  return foldDecisions(decisions, origin(conversationId), event, { at });
}

describe("decisions", () => {
  it("are told apart by conversation, although calls have the same name", () => {
    const two = asked(asked([], "a", "t", "h1"), "b", "t", "h1");
    expect(changeDecision(two, { conversationId: "a", toolUseId: "t" }, { sent: true }).map((one) => one.sent)).toEqual(
      [true, undefined],
    );
    expect(closed(two, { conversationId: "b", toolUseId: "t" }).map((one) => one.conversationId)).toEqual(["a"]);
  });

  it("keep age and answer when they are said again, and lose both with another input", () => {
    const sent = changeDecision(asked([], "a", "t", "h1", 5), { conversationId: "a", toolUseId: "t" }, { sent: true });
    expect(asked(sent, "a", "t", "h1", 90)).toMatchObject([{ sent: true, askedAt: 5 }]);
    const [changed] = asked(sent, "a", "t", "h2", 90);
    expect(changed).toMatchObject({ askedAt: 90, input: { command: "h2" } });
    expect(changed?.sent).toBeUndefined();
    expect(changed && sent[0] && isSameCall(changed, sent[0])).toBe(false);
  });
});
