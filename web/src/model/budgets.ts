/** What may be spent: amounts as people type them, and how far a budget is used. Pure. */
import type { Budget } from "@/gen";
import { type Fleet, find } from "./fleet";

/** More than anybody spends; the machine refuses it. */
const MOST_USD = 1_000_000;

/** An amount in US dollars: undefined if nothing is typed, null if it is none. Both marks for decimals are taken. */
export function amountOf(typed: string): number | undefined | null {
  const words = typed
    .trim()
    .replace(/^\$\s*/, "")
    .replace(",", ".");
  if (words === "") return undefined;
  const amount = /^\d+(\.\d+)?$/.test(words) ? Number(words) : Number.NaN;
  return amount > 0 && amount <= MOST_USD ? amount : null;
}

export type Slip = "none" | "amount" | "order";

export interface Lines {
  softUsd?: number;
  hardUsd?: number;
}

/** The lines that were typed, or what is wrong with them. */
export function linesOf(soft: string, hard: string): Lines | Slip {
  const [softUsd, hardUsd] = [amountOf(soft), amountOf(hard)];
  if (softUsd === null || hardUsd === null) return "amount";
  if (softUsd === undefined && hardUsd === undefined) return "none";
  if (softUsd !== undefined && hardUsd !== undefined && softUsd > hardUsd) return "order";
  return { softUsd, hardUsd };
}

export type Level = "fine" | "warned" | "spent";

export function levelOf({ spentUsd, softUsd, hardUsd }: Budget): Level {
  if (hardUsd !== undefined && spentUsd >= hardUsd) return "spent";
  return softUsd !== undefined && spentUsd >= softUsd ? "warned" : "fine";
}

/** How much of its last line is used, from 0 to 1. */
export function partOf({ spentUsd, softUsd, hardUsd }: Budget): number {
  const line = hardUsd ?? softUsd;
  return line === undefined ? 0 : Math.min(1, spentUsd / line);
}

/** What tells a budget from every other of its machine: a task's stands beside that of the conversation it is done in. */
export function keyOf({ scope, conversationId, taskId }: Budget): string {
  return JSON.stringify([scope, conversationId ?? "", taskId ?? ""]);
}

/** What a budget is for, by the names that people gave. */
export interface Subject {
  conversation?: string;
  task?: string;
}

/** A task is called by its title if its workspace has told it, else by its id. The lines of a task stand in its file. */
export function subjectOf(fleet: Fleet, { scope, conversationId, taskId }: Budget): Subject {
  const place = conversationId === undefined ? undefined : find(fleet, conversationId);
  const conversation = place?.conversation.name ?? conversationId;
  if (scope !== "task") return { conversation };
  const told = place?.workspace.tasks.find((one) => one.id === taskId);
  return { conversation, task: told?.title ?? taskId ?? "" };
}
