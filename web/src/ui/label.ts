/** Words for parts of the world that several views show. */
import type { Catalogue } from "@/i18n";
import type { Glance } from "@/model/fleet";

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
  if (error instanceof Error && "code" in error) {
    if (error.code === "offline") return text.errors.offline;
    if (error.code === "timeout") return text.errors.timeout;
  }
  return error instanceof Error && error.message !== "" ? error.message : text.errors.unknown;
}

/** Who answered a question whether something may run, and how. */
export function answerWords(text: Catalogue, decision: string | undefined, who: string): string {
  if (decision === "deny") return text.tool.deniedBy(who);
  return decision === undefined ? text.tool.answeredBy(who) : text.tool.allowedBy(who);
}
