/** Commands of the CLI that fit what is being typed. Pure but for what the conversation told. */
import { useEffect, useMemo } from "react";
import { useApp } from "@/store/app";
import { load, save } from "@/store/storage";

const MOST = 8;

/** The part of a command that stands alone in the field, or null. */
export function typed(value: string): string | null {
  return /^\/([\w:.-]*)$/.exec(value)?.[1] ?? null;
}

export function fitting(commands: readonly string[], value: string): string[] {
  const part = typed(value)?.toLowerCase();
  if (part === undefined) return [];
  const starts = commands.filter((one) => one.toLowerCase().startsWith(part));
  const holds = commands.filter((one) => one.toLowerCase().includes(part) && !starts.includes(one));
  return [...starts, ...holds].slice(0, MOST);
}

/** Whether there is nothing left to complete. */
export function isWhole(commands: readonly string[], value: string): boolean {
  return commands.length === 1 && typed(value) === commands[0];
}

/**
 * What the CLI offers in this folder. It says so when a run begins; between runs the last word of any conversation in the
 * same workspace counts.
 */
export function useCommands(conversationId: string, workspaceId: string): readonly string[] {
  const said = useApp((app) => app.world.transcripts[conversationId]?.commands);
  const name = `commands.${workspaceId}`;
  useEffect(() => {
    if (said !== undefined) save(name, said);
  }, [name, said]);
  return useMemo(() => said ?? load<string[]>(name, []), [name, said]);
}
