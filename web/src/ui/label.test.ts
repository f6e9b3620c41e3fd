import { describe, expect, it } from "vitest";
import { en, LANGUAGES, type Language, loadCatalogue } from "@/i18n";
import { errorText, reasonWords, refusalText, standingLabel } from "./label";

describe("refusals", () => {
  it.each(Object.keys(LANGUAGES) as Language[])("are in the reader's words in %s", async (language) => {
    const text = await loadCatalogue(language);
    expect(refusalText(text, { code: "forbidden", words: "device lacks the right admin" })).toBe(
      text.refusal.forbidden,
    );
    expect(refusalText(text, { code: "bad_path", words: "/none is no folder" })).toBe(
      `${text.refusal.bad_path} (/none is no folder)`,
    );
    expect(refusalText(text, { words: "" })).toBe(text.errors.unknown);
    expect(refusalText(text, { words: "somebody\u2019s own words" })).toBe("somebody\u2019s own words");
    expect(errorText(text, Object.assign(new Error("x"), { code: "disk_full" }))).toBe(text.refusal.disk_full);
    expect(errorText(text, "nothing")).toBe(text.errors.unknown);
  });

  it("of a kind that came later are said in the machine's words", () => {
    expect(refusalText(en, { code: "of_tomorrow" as "internal", words: "Try tomorrow." })).toBe("Try tomorrow.");
  });
});

describe("states and reasons", () => {
  const conversation = {
    conversationId: "c",
    name: "c",
    skillType: "general",
    status: "idle",
    claudeSessionId: null,
  } as const;

  it.each(Object.keys(LANGUAGES) as Language[])("are said with why in %s", async (language) => {
    const text = await loadCatalogue(language);
    const label = (state: Parameters<typeof standingLabel>[1], more: object) =>
      standingLabel(text, state, { ...conversation, ...more });
    const failed = label("error", { process: { status: "error", exitCode: 3, why: "it died" } });
    expect(failed).toBe(`${text.state.error} (${text.talk.exitCode(3)}): it died`);
    const paused = { reason: "idle_timeout", idleMinutes: 45, canResume: true };
    expect(label("stopped", { process: { status: "stopped", paused } })).toBe(text.state.pausedIdle(45));
    expect(label("suspect", { process: { status: "suspect", why: "gone" } })).toBe(`${text.state.suspect}: gone`);
    expect(label("working", { activity: { type: "responding" } })).toBe(text.state.responding);
  });

  it.each(Object.keys(LANGUAGES) as Language[])("name the rule that matches in %s", async (language) => {
    const text = await loadCatalogue(language);
    const rule = { code: "userRule", source: "rule", rule: "Bash(git push:*)", scope: "workspace" } as const;
    expect(reasonWords(text, rule)).toEqual({ words: text.reasons.workspaceRule, rule: "Bash(git push:*)" });
    const doubt = { code: "unclear", source: "doubt", doubt: "computedCommand", subject: "$CMD" } as const;
    expect(reasonWords(text, doubt)).toEqual({ words: text.reasons.doubts.computedCommand, rule: "$CMD" });
    const later = { code: "of_tomorrow" as "noRule", source: "list" } as const;
    expect(reasonWords(text, later)).toBeUndefined();
  });
});
