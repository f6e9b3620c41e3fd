/** Whether the system tells when somebody is needed; the browser is asked the moment it is wanted, and not before. */
import { useState } from "react";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { Section } from "./section";

export function Notifications() {
  const text = useText();
  const notifies = useSettings((settings) => settings.notifies);
  const [isDenied, setDenied] = useState(false);
  if (!("Notification" in globalThis)) return null;
  const want = async (wanted: boolean) => {
    const isAllowed = wanted && (await Notification.requestPermission()) === "granted";
    setDenied(wanted && !isAllowed);
    changeSettings({ notifies: isAllowed });
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
      {isDenied && (
        <p role="alert" className="text-[13px] text-red">
          {text.settings.notifyDenied}
        </p>
      )}
    </Section>
  );
}
