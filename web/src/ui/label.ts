/** Words for parts of the world that several views show. */
import type { ActivityState, Conversation, PolicyReason, ProcessPaused } from "@/gen";
import type { Catalogue } from "@/i18n";
import type { Glance } from "@/model/fleet";
import type { PanelTab } from "@/model/panel";
import type { Refusal } from "@/model/refusal";

/** What the tabs of the panel beside a conversation are called. */
export function panelNames(text: Catalogue): Record<PanelTab, string> {
  const { changes, all: files } = text.files;
  return { changes, files, tasks: text.worker.tasks, terminal: text.terminal.title, usage: text.usage.title };
}

export function stateLabel(text: Catalogue, state: Glance): string {
  return text.state[state];
}

/** The state of a conversation with its reason: why its process is as it is, or what the agent is at. */
export function standingLabel(text: Catalogue, state: Glance, { process, activity }: Conversation): string {
  switch (state) {
    case "working":
      return activity ? activityLabel(text, activity) : text.state.working;
    case "stopped":
      return pausedLabel(text, process?.paused);
    case "error": {
      const { cause, exitCode } = process ?? {};
      const why = cause !== undefined ? (text.cause[cause] ?? text.cause.other) : process?.why;
      return because(
        exitCode === undefined ? text.state.error : `${text.state.error} (${text.talk.exitCode(exitCode)})`,
        why,
      );
    }
    case "suspect":
      return because(text.state.suspect, process?.why);
    default:
      return stateLabel(text, state);
  }
}

export function activityLabel(text: Catalogue, { type, toolName }: ActivityState): string {
  if (type !== "tool") return type === "responding" ? text.state.responding : text.state.thinking;
  return toolName === undefined ? text.state.working : text.state.tool(toolLabel(text, toolName));
}

/** Why a process is stopped. */
export function pausedLabel(
  text: Catalogue,
  paused: Pick<ProcessPaused, "reason" | "idleMinutes"> | undefined,
): string {
  switch (paused?.reason) {
    case "idle_timeout":
      return text.state.pausedIdle(paused.idleMinutes);
    case "manual":
      return text.state.pausedManual;
    case "server_shutdown":
      return text.state.pausedShutdown;
    default:
      return text.state.stopped;
  }
}

function because(what: string, why: string | undefined): string {
  return why ? `${what}: ${why}` : what;
}

/** Why the policy decided as it did, and the rule or pattern that matches, as it is written. */
export function reasonWords(text: Catalogue, why: PolicyReason): { words: string; rule?: string } | undefined {
  const { code, rule, scope, subject = "", doubt = "" } = why;
  const { reasons } = text;
  switch (code) {
    case "userRule":
      return { words: scope === "workspace" ? reasons.workspaceRule : reasons.globalRule, rule };
    case "unclear": {
      const words = (reasons.doubts as Record<string, string>)[doubt] ?? reasons.doubts.other;
      return { words, rule: subject === "" ? undefined : subject };
    }
    case "protectedFile":
    case "dangerousCommand":
      return { words: `${reasons[code](subject)} ${reasons.pattern}`, rule };
    case "sandboxDisabled":
      return { words: reasons.sandboxDisabled };
    case "noRule":
      return { words: reasons.noRule(toolLabel(text, subject)) };
    default:
      return typeof reasons[code] === "function" ? { words: reasons[code](subject) } : undefined;
  }
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
  "uncommitted_work",
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
