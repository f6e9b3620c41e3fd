/** The first visit: a machine's link makes this device known, once a person at the machine agrees. */
import { useEffect, useState } from "react";
import { PairError, type PairFailure } from "@/api/pairing";
import { pairDevice, useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { Star } from "@/ui/star";
import { deviceName, offerOf } from "./code";

type State = { name: "idle" | "busy" } | { name: "compare"; code: string } | { name: "ended"; why: PairFailure };

export function Pairing() {
  const text = useText();
  const isRefused = useApp((app) => app.phase.name === "refused");
  const [link, setLink] = useState(() => (offerOf(location.hash) ? location.href : ""));
  const [name, setName] = useState(() => deviceName(navigator.userAgent));
  const [state, setState] = useState<State>({ name: "idle" });
  const offer = offerOf(link);

  useEffect(() => {
    // The secret is used up in a moment, and should not stay in the address bar.
    if (offerOf(location.hash)) history.replaceState(null, "", location.pathname);
  }, []);

  const pair = async () => {
    if (!offer) return;
    setState({ name: "busy" });
    try {
      await pairDevice(offer, name.trim(), (code) => setState({ name: "compare", code }));
    } catch (error) {
      setState({ name: "ended", why: error instanceof PairError ? error.why : "unreachable" });
    }
  };
  return (
    <main className="flex min-h-full items-center justify-center overflow-y-auto p-4">
      <div className="flex w-full max-w-sm flex-col gap-4">
        <div className="flex items-center gap-3">
          <Star size={36} />
          <div>
            <p className="text-[20px] font-semibold leading-tight">{text.app.name}</p>
            <p className="text-[13px] text-muted">{text.app.tagline}</p>
          </div>
        </div>
        {isRefused && (
          <p role="alert" className="rounded-md bg-red-soft px-3 py-2 text-[14px]">
            {text.pairing.refused}
          </p>
        )}
        {state.name === "compare" ? (
          <Compare code={state.code} cancel={() => setState({ name: "idle" })} />
        ) : (
          <Ask
            link={link}
            setLink={setLink}
            name={name}
            setName={setName}
            state={state}
            isReady={offer !== null}
            pair={pair}
          />
        )}
      </div>
    </main>
  );
}

interface AskProps {
  link: string;
  setLink: (link: string) => void;
  name: string;
  setName: (name: string) => void;
  state: State;
  isReady: boolean;
  pair: () => void;
}

function Ask({ link, setLink, name, setName, state, isReady, pair }: AskProps) {
  const text = useText();
  const field = "min-h-12 rounded-md border border-line-strong bg-bg px-3 text-[16px] text-ink";
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        pair();
      }}
    >
      <h1 className="mt-2 text-[17px] font-semibold">{text.pairing.title}</h1>
      <p className="text-[14px] text-muted">{text.pairing.help}</p>
      <p className="flex items-center justify-between rounded-md border border-line bg-code pl-3 font-mono text-[14px]">
        {text.pairing.command}
        <CopyButton value={text.pairing.command} />
      </p>
      <label className="flex flex-col gap-1.5 text-[13px] text-muted">
        {text.pairing.code}
        <input
          type="password"
          value={link}
          onChange={(event) => setLink(event.target.value)}
          placeholder={text.pairing.codeHint}
          autoComplete="off"
          spellCheck={false}
          className={field}
        />
      </label>
      <label className="flex flex-col gap-1.5 text-[13px] text-muted">
        {text.pairing.name}
        <input value={name} onChange={(event) => setName(event.target.value)} className={field} />
      </label>
      {state.name === "ended" && (
        <p role="alert" className="text-[14px] text-red">
          {text.pairing[state.why]}
        </p>
      )}
      <Button
        kind="main"
        type="submit"
        disabled={!isReady || name.trim() === "" || state.name === "busy"}
        className="min-h-12!"
      >
        {state.name === "busy" ? text.pairing.pairing : text.pairing.pair}
      </Button>
      <p className="text-[12.5px] text-faint">{text.pairing.safe}</p>
    </form>
  );
}

function Compare({ code, cancel }: { code: string; cancel: () => void }) {
  const text = useText();
  return (
    <section aria-live="polite" className="flex flex-col gap-4">
      <h1 className="mt-2 text-[17px] font-semibold">{text.pairing.compare}</h1>
      <p className="text-[14px] text-muted">{text.pairing.compareHelp}</p>
      <p className="rounded-md border border-line bg-code py-5 text-center font-mono text-[32px] tracking-[0.25em]">
        {code.slice(0, 3)} {code.slice(3)}
      </p>
      <Button onClick={cancel}>{text.create.cancel}</Button>
    </section>
  );
}
