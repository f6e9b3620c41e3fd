/** The permission rules of a machine: asked for when somebody looks, never kept here. */
import type { PermissionRule, RuleEffect } from "@/gen";
import { ask } from "./app";

export interface Rules {
  rules: PermissionRule[];
  /** Why the rules are not known. */
  warning?: string;
}

export function loadRules(deviceId: number): Promise<Rules> {
  return ask(deviceId, (requestId) => ({ type: "rules_request", payload: { requestId } }), read);
}

/** Sets a rule, or takes it away if it has no effect. Gives the rules that are in force then. */
export function changeRule(
  deviceId: number,
  rule: string,
  effect: RuleEffect | undefined,
  workspaceId: string | undefined,
): Promise<Rules> {
  const payload = { rule, effect, workspaceId };
  return ask(deviceId, (requestId) => ({ type: "rule_change", payload: { ...payload, requestId } }), read);
}

function read(frame: { type: string; payload?: unknown }): { value: Rules } | null {
  if (frame.type !== "rules_result") return null;
  const { rules, warning } = frame.payload as Rules;
  return { value: { rules, warning } };
}
