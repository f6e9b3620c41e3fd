/** Choices of the person, devices, use and the way out. */
import { Keyboard, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { OnBusy } from "@/gen";
import { LANGUAGES, type Language } from "@/i18n";
import { forgetDevice } from "@/store/app";
import { changeSettings, type Theme, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Devices } from "./devices";
import { Notifications } from "./notifications";
import { Section } from "./section";
import { Usage } from "./usage";
import { Version } from "./version";

export interface SettingsProps {
  openHelp: () => void;
  openReport: () => void;
}

export function SettingsScreen({ openHelp, openReport }: SettingsProps) {
  const text = useText();
  const settings = useSettings();
  const [isLeaving, setLeaving] = useState(false);
  const languages = Object.entries(LANGUAGES) as [Language, string][];
  const themes: [Theme, string][] = [
    ["system", text.settings.themeSystem],
    ["light", text.settings.themeLight],
    ["dark", text.settings.themeDark],
  ];
  const busy: [OnBusy, string][] = [
    ["inject", text.composer.inject],
    ["queue", text.composer.queue],
    ["interrupt", text.composer.interrupt],
  ];
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex w-full max-w-[680px] flex-col gap-7 px-4 py-5 lg:py-8">
        <h1 className="text-[20px] font-semibold">{text.settings.title}</h1>
        <Section title={text.settings.language}>
          <Choice
            label={text.settings.language}
            options={languages}
            value={settings.language}
            choose={(language) => changeSettings({ language })}
          />
        </Section>
        <Section title={text.settings.theme}>
          <Choice
            label={text.settings.theme}
            options={themes}
            value={settings.theme}
            choose={(theme) => changeSettings({ theme })}
          />
        </Section>
        <Section title={text.settings.writing}>
          <label className="flex min-h-11 items-center gap-3 text-[14px]">
            <input
              type="checkbox"
              checked={settings.enterSends}
              onChange={(event) => changeSettings({ enterSends: event.target.checked })}
              className="size-4 accent-[var(--accent)]"
            />
            {text.settings.enterSends}
          </label>
          <p className="pt-1 text-[13px] text-muted">{text.settings.whenBusy}</p>
          <Choice
            label={text.settings.whenBusy}
            options={busy}
            value={settings.onBusy}
            choose={(onBusy) => changeSettings({ onBusy })}
          />
          <Button onClick={openHelp} className="self-start">
            <Keyboard size={16} /> {text.settings.shortcuts}
          </Button>
        </Section>
        <Notifications />
        <Section title={text.rules.title}>
          <p className="text-[13.5px] text-muted">{text.rules.help}</p>
          <Link
            href="/rules"
            className="flex min-h-11 items-center gap-2 self-start rounded-md border border-line-strong px-4 text-[14px] hover:bg-hover lg:min-h-9"
          >
            <ShieldCheck size={16} /> {text.rules.open}
          </Link>
        </Section>
        <Devices />
        <Usage />
        <Version openReport={openReport} />
        <Section title={text.settings.signOut}>
          <p className="text-[13.5px] text-muted">{text.settings.signOutHelp}</p>
          {isLeaving ? (
            <div className="flex flex-wrap items-center gap-2">
              <span className="text-[14px]">{text.settings.signOutSure}</span>
              <Button onClick={() => setLeaving(false)}>{text.create.cancel}</Button>
              <Button kind="danger" onClick={() => void forgetDevice()}>
                {text.settings.signOut}
              </Button>
            </div>
          ) : (
            <Button kind="danger" onClick={() => setLeaving(true)} className="self-start">
              {text.settings.signOut}
            </Button>
          )}
        </Section>
      </div>
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  options: [T, string][];
  value: T;
  choose: (value: T) => void;
}

function Choice<T extends string>({ label, options, value, choose }: ChoiceProps<T>) {
  return (
    <div role="radiogroup" aria-label={label} className="flex flex-wrap gap-2">
      {options.map(([key, words]) => (
        <label
          key={key}
          className={`flex min-h-11 cursor-pointer items-center rounded-md border px-4 text-[14px] lg:min-h-9 ${key === value ? "border-accent bg-accent-soft font-medium" : "border-line hover:bg-hover"} has-focus-visible:outline-2 has-focus-visible:outline-accent`}
        >
          <input type="radio" name={label} checked={key === value} onChange={() => choose(key)} className="sr-only" />
          {words}
        </label>
      ))}
    </div>
  );
}
