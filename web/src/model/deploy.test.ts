import { expect, it } from "vitest";
import type { DeployPhase, DeployStatusResult } from "@/gen";
import { actsOf, type Deploy, onDeployFrame, renew, stepsOf } from "./deploy";
import type { Frame } from "./world";

const WAITING = { git: "waiting", apk: "waiting", exe: "waiting", npm: "waiting", json: "waiting" } as const;

function status(phase: DeployPhase, more: Partial<DeployStatusResult> = {}): Deploy {
  return { deviceId: 1, phase, tasks: WAITING, message: "", acks: [], log: [], success: true, ...more };
}

it("offers what the state allows, and nothing before the others have answered", () => {
  expect(actsOf(status("idle"))).toEqual(["prepare"]);
  expect(actsOf(status("preparing"))).toEqual(["confirm", "cancel"]);
  expect(actsOf(status("preparing", { approved: true }))).toEqual(["unconfirm", "cancel"]);
  expect(actsOf(status("preparing", { leadPylonId: 2 }))).toEqual(["cancel"]);
  expect(actsOf(status("ready"))).toEqual(["confirm", "cancel"]);
  expect(actsOf(status("started", { acks: [{ deviceId: 2 }] }))).toEqual(["cancel"]);
  expect(actsOf(status("started", { acks: [{ deviceId: 2, success: false }] }))).toEqual(["go", "cancel"]);
  expect(actsOf(status("going"))).toEqual([]);
});

it("keeps the reason of a failure until the next attempt, and takes only what its own machine says", () => {
  const failed = onDeployFrame(status("preparing"), {
    type: "deploy_ready",
    payload: { deviceId: 1, success: false, error: "Build: failed" },
  } as Frame);
  expect(failed).toMatchObject({ isStale: true, deploy: { failure: "Build: failed" } });
  const idle = renew(failed.deploy, status("idle"));
  expect(idle.failure).toBe("Build: failed");
  expect(renew(idle, status("preparing")).failure).toBeUndefined();
  const other = onDeployFrame(idle, { type: "deploy_log", payload: { deviceId: 2, line: "x", timestamp: 1 } } as Frame);
  expect(other.deploy).toBe(idle);
  const own = onDeployFrame(idle, { type: "deploy_log", payload: { deviceId: 1, line: "x", timestamp: 1 } } as Frame);
  expect(own.deploy.log).toEqual([{ line: "x", timestamp: 1 }]);
  expect(own.isStale).toBe(false);
});

it("shows the steps in the order in which they are taken", () => {
  const steps = stepsOf({ ...WAITING, git: "done", build: "running" });
  expect(steps.map((one) => one.step)).toEqual(["git", "apk", "exe", "npm", "build", "json"]);
});
