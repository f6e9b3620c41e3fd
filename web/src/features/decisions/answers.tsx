/** The answers to a permission, a plan or a trust: the safe one as easy to hit as the other, none of them by accident. */
import { useState } from "react";
import type { PermissionDecision } from "@/gen";
import type { Decision } from "@/model/decisions";
import { decide } from "@/store/acts";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { refusalText, toolLabel } from "@/ui/label";

export function Answers({ decision, isSteady }: { decision: Decision; isSteady: boolean }) {
  const text = useText();
  // A card that has just come, or another in its place, was not what the finger meant.
  const give = (answer: PermissionDecision, message?: string) => isSteady && decide(decision, answer, message);
  const isUnsteady = !isSteady || undefined;
  const [step, setStep] = useState<"choose" | "deny" | "allowAll">("choose");
  const [reason, setReason] = useState("");
  const back = () => setStep("choose");
  const mayDecide = useRight("approve");
  const words = {
    plan: [text.decision.reject, text.decision.approve],
    trust: [text.decision.deny, text.decision.trustIt],
  } as const;
  const [no, yes] =
    decision.kind === "plan" || decision.kind === "trust"
      ? words[decision.kind]
      : [text.decision.deny, text.decision.allow];
  if (!mayDecide) return <Footer>{text.decision.noRight}</Footer>;
  if (decision.sent) return <Footer>{text.decision.sending}</Footer>;
  if (step === "deny") {
    return (
      <form
        className="flex flex-col gap-2 border-t border-line px-4 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          give("deny", reason.trim() || undefined);
        }}
      >
        <label className="text-[13px] text-muted" htmlFor="deny-reason">
          {text.decision.reason}
        </label>
        <input
          id="deny-reason"
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          placeholder={text.decision.reasonHint}
          className="min-h-11 rounded-md border border-line-strong bg-bg px-3 text-[15px] lg:min-h-9"
        />
        <div className="grid grid-cols-2 gap-2">
          <Button onClick={back}>{text.create.cancel}</Button>
          <Button kind="danger" type="submit" aria-disabled={isUnsteady}>
            {no}
          </Button>
        </div>
      </form>
    );
  }
  if (step === "allowAll") {
    return (
      <div className="flex flex-col gap-2 border-t border-line px-4 py-3">
        <p role="status" className="text-[13.5px]">
          {text.decision.allowAllHelp(toolLabel(text, decision.toolName))}
        </p>
        <div className="grid grid-cols-2 gap-2">
          <Button autoFocus onClick={back}>
            {text.create.cancel}
          </Button>
          <Button kind="amber" aria-disabled={isUnsteady} onClick={() => give("allowAll")}>
            {text.decision.allowAll}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-2 border-t border-line px-4 py-3">
      {decision.refusal && (
        <p role="alert" className="text-[13px] text-red">
          {decision.refusal.code === "offline"
            ? text.decision.offline
            : text.decision.failed(refusalText(text, decision.refusal))}
        </p>
      )}
      <div className="grid grid-cols-2 gap-x-2 gap-y-1 sm:flex sm:flex-wrap sm:items-center sm:justify-end sm:gap-2">
        <Button aria-disabled={isUnsteady} onClick={() => give("deny")} className="sm:order-3 sm:min-w-28">
          {no}
        </Button>
        <Button
          kind="amber"
          aria-disabled={isUnsteady}
          onClick={() => give("allow")}
          className="sm:order-4 sm:min-w-32"
        >
          {yes}
        </Button>
        {decision.kind !== "trust" && (
          <Button
            kind="quiet"
            className={`px-2! text-[13px]! sm:order-1 sm:px-3! ${decision.kind === "permission" ? "" : "col-span-2"}`}
            onClick={() => setStep("deny")}
          >
            {decision.kind === "plan" ? text.decision.rejectWithReason : text.decision.denyWithReason}
          </Button>
        )}
        {decision.kind === "permission" && (
          <Button
            kind="quiet"
            className="px-2! text-[13px]! sm:order-2 sm:mr-auto sm:px-3!"
            aria-disabled={isUnsteady}
            onClick={() => isSteady && setStep("allowAll")}
          >
            {text.decision.allowAll}
          </Button>
        )}
      </div>
    </div>
  );
}

function Footer({ children }: { children: string }) {
  return (
    <p role="status" className="border-t border-line px-4 py-3 text-[13.5px] text-muted">
      {children}
    </p>
  );
}
