/** Words for how a terminal is, and what runs in it. */
import type { Terminal } from "@/gen";
import type { Catalogue } from "@/i18n";

export function kindWords(text: Catalogue, kind: Terminal["kind"]): string {
  return kind === "agent" ? text.terminal.agent : text.terminal.shell;
}

export type Ending = Pick<Terminal, "state" | "exitCode" | "signal">;

export function stateWords(text: Catalogue, { state, exitCode, signal }: Ending): string {
  if (state === "running") return text.terminal.running;
  if (state === "lost") return text.terminal.lost;
  if (signal !== undefined) return text.terminal.endedBySignal(signal);
  return exitCode === undefined ? text.terminal.endedAnyhow : text.terminal.ended(exitCode);
}

export function stateColour({ state, exitCode, signal }: Ending): string {
  if (state === "running") return "text-blue";
  return state === "ended" && exitCode === 0 && signal === undefined ? "text-green" : "text-red";
}

/** Where a terminal is on the page. */
export function terminalPath(deviceId: number, terminalId: string): string {
  return `/terminals/${deviceId}/${encodeURIComponent(terminalId)}`;
}
