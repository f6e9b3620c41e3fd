/** Words for parts of the world that several views show. */
import type { Catalogue } from "@/i18n";
import type { Glance } from "@/model/fleet";
import type { Refusal } from "@/model/refusal";

export function stateLabel(text: Catalogue, state: Glance): string {
  return text.state[state];
}

export function toolLabel(text: Catalogue, toolName: string): string {
  const known = text.tool.names[toolName];
  if (known !== undefined) return known;
  const [mark, server, ...rest] = toolName.split("__");
  return mark === "mcp" && server && rest.length > 0 ? rest.join("__") : toolName;
}

/** Words for a failed request. */
export function errorText(text: Catalogue, error: unknown): string {
  if (!(error instanceof Error)) return text.errors.unknown;
  return refusalText(text, {
    code: "code" in error ? (error.code as Refusal["code"]) : undefined,
    words: error.message,
  });
}

/** Codes that say too little alone: what the machine says about them is shown as well. */
const NEEDS_WORDS = new Set<string | undefined>([
  "invalid_message",
  "conflict",
  "bad_path",
  "not_configured",
  "git_failed",
  "agent_unavailable",
  "host_unavailable",
  "internal",
]);

/** A refusal in the reader's language, with what to do. */
export function refusalText(text: Catalogue, { code, words }: Refusal): string {
  const known = code === undefined ? undefined : (text.refusal as Record<string, string>)[code];
  if (known === undefined) return words === "" ? text.errors.unknown : words;
  return words !== "" && NEEDS_WORDS.has(code) ? `${known} (${words})` : known;
}

/** Who answered a question whether something may run, and how. */
export function answerWords(text: Catalogue, decision: string | undefined, who: string): string {
  if (decision === "deny") return text.tool.deniedBy(who);
  return decision === undefined ? text.tool.answeredBy(who) : text.tool.allowedBy(who);
}
