/** Which model answers: one of the usual names, or any that the machine knows. */
import { useState } from "react";
import type { Place } from "@/model/fleet";
import { setModel, tell } from "@/store/acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";

/** The CLI's own short names; each stands for the newest of its kind. */
const USUAL = ["opus", "sonnet", "haiku"];

export function ModelDialog({ place, close }: { place: Place; close: () => void }) {
  const text = useText();
  const { model } = place.conversation;
  const [name, setName] = useState(model !== undefined && !USUAL.includes(model) ? model : "");
  const choose = (next: string | undefined) => {
    close();
    setModel(place, next).catch((error: unknown) => tell(errorText(text, error)));
  };
  return (
    <Dialog title={text.menu.model} onClose={close} width="max-w-md">
      <ul className="flex flex-col gap-1.5 p-4">
        {[undefined, ...USUAL].map((one) => (
          <li key={one ?? ""}>
            <button
              type="button"
              aria-pressed={one === model}
              onClick={() => choose(one)}
              className={`flex min-h-11 w-full items-center rounded-md border px-4 text-left text-[15px] ${one === model ? "border-accent bg-accent-soft font-medium" : "border-line hover:bg-hover"}`}
            >
              {one ?? text.menu.modelDefault}
            </button>
          </li>
        ))}
      </ul>
      <form
        className="flex items-end gap-2 border-t border-line p-4"
        onSubmit={(event) => {
          event.preventDefault();
          choose(name.trim());
        }}
      >
        <label className="flex min-w-0 flex-1 flex-col gap-1.5 text-[13px] text-muted">
          {text.menu.modelOther}
          <input
            value={name}
            onChange={(event) => setName(event.target.value)}
            placeholder="claude-sonnet-4-5"
            spellCheck={false}
            autoCapitalize="off"
            className="min-h-11 w-full rounded-md border border-line-strong bg-bg px-3 font-mono text-[14px] text-ink placeholder:text-faint lg:min-h-9"
          />
        </label>
        <Button kind="main" type="submit" disabled={name.trim() === ""}>
          {text.menu.save}
        </Button>
      </form>
    </Dialog>
  );
}
