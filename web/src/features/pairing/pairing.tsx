/** The first visit: a code from a machine makes this device known. The code may come in the address's fragment. */
import { useEffect, useState } from "react";
import { HttpError } from "@/api/http";
import { pairDevice, useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { Star } from "@/ui/star";
import { codeOf, deviceName } from "./code";

export function Pairing() {
  const text = useText();
  const phase = useApp((app) => app.phase);
  const [code, setCode] = useState(() => codeOf(location.hash) ?? "");
  const [name, setName] = useState(() => deviceName(navigator.userAgent));
  const [state, setState] = useState<"idle" | "busy" | "failed" | "unreachable">("idle");

  useEffect(() => {
    // The code is used up in a moment, and should not stay in the address bar.
    if (codeOf(location.hash) !== null) history.replaceState(null, "", location.pathname);
  }, []);

  const pair = async () => {
    setState("busy");
    try {
      await pairDevice(codeOf(code) ?? code.trim(), name.trim());
    } catch (error) {
      setState(error instanceof HttpError && error.status < 500 ? "failed" : "unreachable");
    }
  };
  const field = "min-h-12 rounded-md border border-line-strong bg-bg px-3 text-[16px]";
  return (
    <main className="flex min-h-full items-center justify-center overflow-y-auto p-4">
      <form
        className="flex w-full max-w-sm flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void pair();
        }}
      >
        <div className="flex items-center gap-3">
          <Star size={36} />
          <div>
            <p className="text-[20px] font-semibold leading-tight">{text.app.name}</p>
            <p className="text-[13px] text-muted">{text.app.tagline}</p>
          </div>
        </div>
        <h1 className="mt-2 text-[17px] font-semibold">{text.pairing.title}</h1>
        {phase.name === "refused" && (
          <p role="alert" className="rounded-md bg-red-soft px-3 py-2 text-[14px]">
            {text.pairing.refused}
          </p>
        )}
        <p className="text-[14px] text-muted">{text.pairing.help}</p>
        <p className="flex items-center justify-between rounded-md border border-line bg-code pl-3 font-mono text-[14px]">
          {text.pairing.command}
          <CopyButton value={text.pairing.command} />
        </p>
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.pairing.code}
          <input
            value={code}
            onChange={(event) => setCode(event.target.value)}
            placeholder={text.pairing.codeHint}
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            className={`${field} font-mono tracking-wide text-ink`}
          />
        </label>
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.pairing.name}
          <input value={name} onChange={(event) => setName(event.target.value)} className={`${field} text-ink`} />
        </label>
        {(state === "failed" || state === "unreachable") && (
          <p role="alert" className="text-[14px] text-red">
            {text.pairing[state]}
          </p>
        )}
        <Button
          kind="main"
          type="submit"
          disabled={code.trim() === "" || name.trim() === "" || state === "busy"}
          className="min-h-12!"
        >
          {state === "busy" ? text.pairing.pairing : text.pairing.pair}
        </Button>
        <p className="text-[12.5px] text-faint">{text.pairing.safe}</p>
      </form>
    </main>
  );
}
