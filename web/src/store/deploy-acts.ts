/** What a person does with a deploy. A build takes long, so nobody waits for the answer: the frames tell how it goes. */
import { useCallback, useEffect, useState } from "react";
import { RequestError } from "@/api/requests";
import type { DeployStatusResult } from "@/gen";
import { type Act, type Deploy, onDeployFrame, renew } from "@/model/deploy";
import type { Frame } from "@/model/world";
import { ask, listen, sendTo } from "./app";

function loadDeploy(deviceId: number): Promise<DeployStatusResult> {
  return ask(
    deviceId,
    (requestId) => ({ type: "deploy_status_request", payload: { requestId } }),
    (frame) => (frame.type === "deploy_status_result" ? { value: frame.payload } : null),
  );
}

/** Says what is to be done; what becomes of a build is told later. */
export async function actOn(deviceId: number, act: Act, leads: boolean): Promise<void> {
  const confirm = (preApproved: boolean, cancel: boolean) =>
    ask(deviceId, (requestId) => ({ type: "deploy_confirm", payload: { preApproved, cancel, requestId } }));
  switch (act) {
    case "prepare": {
      const isSent = sendTo(deviceId, { type: "deploy_prepare", payload: { relayDeploy: leads } });
      if (!isSent) throw new RequestError("", "offline");
      return;
    }
    case "confirm":
      return confirm(true, false);
    case "unconfirm":
      return confirm(false, false);
    case "cancel":
      return confirm(false, true);
    case "go":
      return ask(deviceId, (requestId) => ({ type: "deploy_go", payload: { requestId } }));
  }
}

/** Steps follow each other quickly; the status is asked for once they have settled. */
const SETTLE_MS = 150;

export interface Followed {
  deploy: Deploy | null;
  error: unknown;
  /** Asks how it stands now. */
  again(): void;
}

/** The deploy of a machine, for as long as somebody looks and it is there. */
export function useDeploy(deviceId: number, isOnline: boolean): Followed {
  const [deploy, setDeploy] = useState<Deploy | null>(null);
  const [error, setError] = useState<unknown>(null);
  const load = useCallback(
    () =>
      loadDeploy(deviceId).then(
        () => setError(null),
        (failure: unknown) => setError(failure),
      ),
    [deviceId],
  );
  useEffect(() => {
    if (!isOnline) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hear = (frame: Frame): boolean => {
      // In its place among the others: one that was answered before a build failed must not hide why it failed.
      if (frame.type === "deploy_status_result") {
        const status = frame.payload;
        if (status.success && status.deviceId === deviceId)
          setDeploy((known) => renew(known?.deviceId === deviceId ? known : null, status));
        return false;
      }
      if (!frame.type.startsWith("deploy_")) return false;
      setDeploy((known) => (known ? onDeployFrame(known, frame).deploy : known));
      if (frame.type !== "deploy_log") {
        clearTimeout(timer);
        timer = setTimeout(() => void load(), SETTLE_MS);
      }
      return true;
    };
    const stop = listen(hear);
    void load();
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [deviceId, isOnline, load]);
  return { deploy: deploy?.deviceId === deviceId ? deploy : null, error, again: load };
}
