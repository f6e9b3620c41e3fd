/** The permission rules of a machine: asked for when somebody looks, never kept here. */

import { RequestError } from "@/api/requests";
import type { CallVerdict, GrantedTool, PermissionRule, RuleEffect, TriedCall } from "@/gen";
import type { Frame } from "@/model/world";
import { ask } from "./app";

export interface Rules {
  rules: PermissionRule[];
  /** Tools that run unasked in a conversation, because somebody said so there. */
  granted: GrantedTool[];
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

/** A tool that was allowed for a conversation is asked about again. Gives what is in force then. */
export function revokeTool(deviceId: number, { conversationId, toolName }: GrantedTool): Promise<Rules> {
  const payload = { conversationId, toolName };
  return ask(deviceId, (requestId) => ({ type: "tool_revoke", payload: { ...payload, requestId } }), read);
}

/** What would become of a call; nothing runs. */
export async function tryCall(
  deviceId: number,
  attempt: TriedCall,
  workspaceId: string | undefined,
): Promise<CallVerdict> {
  const payload = { workspaceId, attempt };
  const { verdict } = await ask(
    deviceId,
    (requestId) => ({ type: "rules_request", payload: { ...payload, requestId } }),
    (frame) => (frame.type === "rules_result" ? { value: frame.payload } : null),
  );
  // A machine of an older build knows the rules and not how to try them.
  if (!verdict) throw new RequestError("");
  return verdict;
}

function read(frame: Frame): { value: Rules } | null {
  if (frame.type !== "rules_result") return null;
  const { rules, granted = [], warning } = frame.payload;
  return { value: { rules, granted, warning } };
}
