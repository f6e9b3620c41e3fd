/** Small windows that ask before something is done: for a name, or whether the person is sure. */
import { useState } from "react";
import { useText } from "@/store/text";
import { Button } from "./button";
import { Dialog } from "./dialog";

export interface AskNameProps {
  title: string;
  name: string;
  close: () => void;
  act: (name: string) => unknown;
}

export function AskName({ title, name: first, close, act }: AskNameProps) {
  const text = useText();
  const [name, setName] = useState(first);
  return (
    <Dialog title={title} onClose={close}>
      <form
        className="flex flex-col gap-4 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          close();
          act(name.trim());
        }}
      >
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.create.name}
          <input
            data-first
            value={name}
            onChange={(event) => setName(event.target.value)}
            onFocus={(event) => event.target.select()}
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
  /** The word of the button that does it. */
  yes?: string;
  close: () => void;
  act: () => unknown;
}

export function Confirm({ title, question, yes, close, act }: ConfirmProps) {
  const text = useText();
  return (
    <Dialog title={title} onClose={close} isSheet>
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
            {yes ?? text.menu.confirm}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
