/** A report of a fault, kept by a machine together with the conversation it is about. */
import { useState } from "react";
import { find } from "@/model/fleet";
import { tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { reportBug } from "@/store/machine-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";
import { MachineChoice } from "@/ui/machine-choice";
import { useOnce } from "@/ui/once";
import { Plain } from "@/ui/plain";

/** The most a machine takes, in bytes. */
const LONGEST = 64 * 1024;

export function Report({ conversationId, close }: { conversationId: string | null; close: () => void }) {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const place = conversationId === null ? undefined : find(fleet, conversationId);
  const online = fleet.filter((machine) => machine.isOnline);
  const [chosen, setChosen] = useState(place?.machine.deviceId);
  const [message, setMessage] = useState("");
  const { isBusy, once } = useOnce();
  const [error, setError] = useState<string | null>(null);
  const machine = online.find((one) => one.deviceId === chosen) ?? online[0];
  const about = place && place.machine === machine ? place.conversation : undefined;
  const isTooLong = new TextEncoder().encode(message).length > LONGEST;
  const isReady = machine !== undefined && message.trim() !== "" && !isTooLong && !isBusy;
  const send = async () => {
    if (!isReady) return;
    setError(null);
    try {
      await reportBug(machine.deviceId, message.trim(), about?.conversationId);
      tell(text.report.kept(machine.name));
      close();
    } catch (failure) {
      setError(errorText(text, failure));
    }
  };
  return (
    <Dialog title={text.report.title} onClose={close}>
      <form
        className="flex flex-col gap-4 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          once(send);
        }}
      >
        <p className="text-[13.5px] text-muted">{text.report.help}</p>
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.report.what}
          <textarea
            data-first
            dir="auto"
            rows={7}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            className="w-full rounded-md border border-line-strong bg-bg px-3 py-2.5 text-[15px] text-ink"
          />
        </label>
        <MachineChoice machines={online} chosen={machine?.deviceId} choose={setChosen} />
        {about && (
          <p className="text-[13px] text-muted">
            {text.report.about} <Plain text={about.name} />
          </p>
        )}
        {machine === undefined && <p className="text-[13.5px] text-amber">{text.talk.offline}</p>}
        {(error ?? isTooLong) && (
          <p role="alert" className="text-[13.5px] text-red">
            {error ?? text.refusal.too_large}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{text.create.cancel}</Button>
          <Button kind="main" type="submit" disabled={!isReady}>
            {isBusy ? text.talk.sending : text.report.send}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
