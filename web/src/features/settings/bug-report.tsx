/** A report of a problem, kept on the machine. */
import { useState } from "react";
import { reportBug } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Section } from "./section";

export function BugReport() {
  const text = useText();
  const machine = useApp((app) => app.world.fleet.find((one) => one.isOnline));
  const viewing = useApp((app) => app.world.viewing);
  const [words, setWords] = useState("");
  const [note, setNote] = useState<string | null>(null);
  if (!machine) return null;
  const send = async () => {
    try {
      await reportBug(machine.deviceId, viewing ? `${words.trim()}\n\n(${viewing})` : words.trim());
      setWords("");
      setNote(text.settings.bugSent);
    } catch (error) {
      setNote(errorText(text, error));
    }
  };
  return (
    <Section title={text.settings.bug}>
      <textarea
        rows={3}
        value={words}
        aria-label={text.settings.bug}
        placeholder={text.settings.bugHint}
        onChange={(event) => setWords(event.target.value)}
        className="rounded-md border border-line-strong bg-bg p-3 text-[15px] placeholder:text-faint"
      />
      {note && (
        <p role="status" className="text-[13.5px] text-muted">
          {note}
        </p>
      )}
      <Button disabled={words.trim() === ""} onClick={send} className="self-start">
        {text.settings.bugSend}
      </Button>
    </Section>
  );
}
