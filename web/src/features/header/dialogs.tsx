/** Windows of the conversation's menu: a new name, and "are you sure". */
import { useState } from "react";
import type { Place } from "@/model/fleet";
import { renameConversation, tell } from "@/store/acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";

export function Rename({ place, close }: { place: Place; close: () => void }) {
  const text = useText();
  const [name, setName] = useState(place.conversation.name);
  return (
    <Dialog title={text.menu.rename} onClose={close}>
      <form
        className="flex flex-col gap-4 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          close();
          renameConversation(place, name.trim()).catch((error: unknown) => tell(errorText(text, error)));
        }}
      >
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.create.name}
          <input
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
            className="min-h-11 rounded-md border border-line-strong bg-bg px-3 text-[15px] text-ink"
          />
        </label>
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{text.create.cancel}</Button>
          <Button kind="main" type="submit" disabled={name.trim() === ""}>
            {text.menu.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export interface ConfirmProps {
  title: string;
  question: string;
  close: () => void;
  act: () => unknown;
}

export function Confirm({ title, question, close, act }: ConfirmProps) {
  const text = useText();
  return (
    <Dialog title={title} onClose={close}>
      <div className="flex flex-col gap-4 p-5">
        <p>{question}</p>
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{text.create.cancel}</Button>
          <Button
            kind="danger"
            onClick={() => {
              close();
              act();
            }}
          >
            {text.menu.confirm}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
