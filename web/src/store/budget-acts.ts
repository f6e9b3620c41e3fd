/** What conversations and days may cost: asked for when somebody looks, never kept here. */
import type { Budget } from "@/gen";
import type { Lines } from "@/model/budgets";
import type { Frame } from "@/model/world";
import { ask } from "./app";

export function loadBudgets(deviceId: number): Promise<Budget[]> {
  return ask(deviceId, (requestId) => ({ type: "budget_request", payload: { requestId } }), read);
}

/** Sets both lines as they are given, and gives all budgets then. Without a conversation it is the day's. */
export function setBudget(deviceId: number, conversationId: string | undefined, lines: Lines): Promise<Budget[]> {
  const payload = { conversationId, ...lines };
  return ask(deviceId, (requestId) => ({ type: "budget_set", payload: { ...payload, requestId } }), read);
}

export function removeBudget(deviceId: number, conversationId: string | undefined): Promise<Budget[]> {
  const payload = { conversationId, remove: true };
  return ask(deviceId, (requestId) => ({ type: "budget_set", payload: { ...payload, requestId } }), read);
}

function read(frame: Frame): { value: Budget[] } | null {
  return frame.type === "budget_result" ? { value: frame.payload.budgets } : null;
}
