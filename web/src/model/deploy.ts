/** A deploy of a machine as its status and later frames tell. Pure. */
import type { DeployLine, DeployPhase, DeployStatusResult, DeployTask, DeployTasks } from "@/gen";
import type { Frame } from "./world";

export interface Deploy extends DeployStatusResult {
  /** Why the last attempt ended, until the next one begins. */
  failure?: string;
}

/** The steps in their order, and whether they come after `go`. */
export const STEPS = ["git", "apk", "exe", "npm", "build", "json", "upload", "relay", "copy"] as const;
export type Step = (typeof STEPS)[number];

/** Most lines that are kept of a deploy that is looked at. */
const KEPT_LINES = 1_000;

export function stepsOf(tasks: DeployTasks): { step: Step; state: DeployTask }[] {
  return STEPS.flatMap((step) => {
    const state = tasks[step];
    return state === undefined ? [] : [{ step, state }];
  });
}

/** What a person can do next. Which of it they may is another question. */
export type Act = "prepare" | "confirm" | "unconfirm" | "cancel" | "go";

export function actsOf({ phase, approved, acks, leadPylonId, deviceId }: Deploy): Act[] {
  const follows = leadPylonId !== undefined && leadPylonId !== deviceId;
  switch (phase) {
    case "idle":
      return ["prepare"];
    case "preparing":
      return follows ? ["cancel"] : [approved ? "unconfirm" : "confirm", "cancel"];
    case "ready":
      return ["confirm", "cancel"];
    case "started":
      return acks.some((ack) => ack.success === undefined) ? ["cancel"] : ["go", "cancel"];
    case "armed":
      return ["cancel"];
    case "going":
    case "restarting":
      return [];
  }
}

/** A fresh status tells everything but why the last attempt ended. */
export function renew(known: Deploy | null, status: DeployStatusResult): Deploy {
  return { ...status, failure: status.phase === "idle" ? known?.failure : undefined };
}

/** The next deploy, and whether the frame means more than it says: then the status is to be asked for. */
export function onDeployFrame(deploy: Deploy, frame: Frame): { deploy: Deploy; isStale: boolean } {
  switch (frame.type) {
    case "deploy_status": {
      if (frame.payload.deviceId !== deploy.deviceId) return { deploy, isStale: false };
      const { tasks, message } = frame.payload;
      return { deploy: { ...deploy, tasks, message }, isStale: true };
    }
    case "deploy_log": {
      if (frame.payload.deviceId !== deploy.deviceId) return { deploy, isStale: false };
      const { line, timestamp } = frame.payload;
      return { deploy: { ...deploy, log: [...deploy.log, { line, timestamp }].slice(-KEPT_LINES) }, isStale: false };
    }
    case "deploy_ready": {
      const { deviceId, success, error } = frame.payload;
      if (deviceId !== deploy.deviceId) return { deploy, isStale: false };
      return { deploy: success ? deploy : { ...deploy, failure: error }, isStale: true };
    }
    case "deploy_error": {
      if (frame.payload.deviceId !== deploy.deviceId) return { deploy, isStale: false };
      return { deploy: { ...deploy, failure: frame.payload.error }, isStale: true };
    }
    case "deploy_ack_received":
    case "deploy_start":
    case "deploy_restart":
    case "deploy_restarting":
    case "deploy_cancelled":
      return { deploy, isStale: true };
    default:
      return { deploy, isStale: false };
  }
}

export type { DeployLine, DeployPhase };
