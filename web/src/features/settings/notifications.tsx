/** Whether the system tells when somebody is needed; the browser is asked the moment it is wanted, and not before. */
import { useState } from "react";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { stopTelling, wantTelling } from "@/ui/push";
import { Machines } from "./push";
import { Section } from "./section";

export function Notifications() {
  const text = useText();
  const notifies = useSettings((settings) => settings.notifies);
  const [isDenied, setDenied] = useState(false);
  if (!("Notification" in globalThis)) return null;
  const want = async (wanted: boolean) => {
    setDenied(false);
    if (wanted) setDenied(!(await wantTelling()));
    else await stopTelling();
  };
  return (
    <Section title={text.settings.notify}>
      <label className="flex min-h-11 items-center gap-3 text-[14px]">
        <input
          type="checkbox"
          checked={notifies}
          onChange={(event) => void want(event.target.checked)}
          className="size-4 shrink-0 accent-[var(--accent)]"
        />
        {text.settings.notifyMe}
      </label>
      <p className="text-[13px] text-muted">{text.settings.notifyHelp}</p>
      {notifies && <Quiet />}
      {notifies && <Machines />}
      {isDenied && (
        <p role="alert" className="text-[13px] text-red">
          {text.settings.notifyDenied}
        </p>
      )}
    </Section>
  );
}

const NIGHT = { from: "22:00", until: "07:00" };

function Quiet() {
  const text = useText();
  const quiet = useSettings((settings) => settings.quiet);
  const set = (change: Partial<typeof NIGHT>) => changeSettings({ quiet: { ...NIGHT, ...quiet, ...change } });
  const field = (name: "from" | "until", label: string) => (
    <label className="flex items-center gap-2 text-[13px] text-muted">
      {label}
      <input
        type="time"
        required
        value={quiet?.[name] ?? ""}
        onChange={(event) => event.target.value !== "" && set({ [name]: event.target.value })}
        className="min-h-11 rounded-md border border-line-strong bg-bg px-3 text-[14px] text-ink lg:min-h-9"
      />
    </label>
  );
  return (
    <>
      <label className="flex min-h-11 items-center gap-3 text-[14px]">
        <input
          type="checkbox"
          checked={quiet !== null}
          onChange={(event) => changeSettings({ quiet: event.target.checked ? NIGHT : null })}
          className="size-4 shrink-0 accent-[var(--accent)]"
        />
        {text.settings.quiet}
      </label>
      {quiet && (
        <div className="flex flex-wrap gap-4">
          {field("from", text.settings.from)}
          {field("until", text.settings.until)}
        </div>
      )}
    </>
  );
}
