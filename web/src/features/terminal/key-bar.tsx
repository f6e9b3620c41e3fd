/** Keys that the keyboard of a phone does not have. Ctrl counts for the next key. */
import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, ClipboardPaste } from "lucide-react";
import type { ReactNode } from "react";
import type { BarKey } from "@/model/terminals";
import { useText } from "@/store/text";

export interface KeyBarProps {
  isControl: boolean;
  setControl: (isControl: boolean) => void;
  press: (key: BarKey) => void;
  paste: (text: string) => void;
}

export function KeyBar({ isControl, setControl, press, paste }: KeyBarProps) {
  const text = useText();
  const pasteClipboard = () => void navigator.clipboard?.readText?.().then(paste, () => undefined);
  return (
    <div
      role="toolbar"
      aria-label={text.terminal.keys}
      className="flex shrink-0 items-stretch gap-1 overflow-x-auto border-t border-line bg-surface p-1 pointer-fine:hidden"
    >
      <Key label="Esc" act={() => press("escape")} />
      <Key label="Tab" act={() => press("tab")} />
      <Key label="Ctrl" isPressed={isControl} act={() => setControl(!isControl)} />
      <Key label={text.terminal.left} icon={<ArrowLeft size={17} />} act={() => press("left")} />
      <Key label={text.terminal.up} icon={<ArrowUp size={17} />} act={() => press("up")} />
      <Key label={text.terminal.down} icon={<ArrowDown size={17} />} act={() => press("down")} />
      <Key label={text.terminal.right} icon={<ArrowRight size={17} />} act={() => press("right")} />
      <Key label={text.terminal.paste} icon={<ClipboardPaste size={17} />} act={pasteClipboard} />
    </div>
  );
}

interface KeyProps {
  label: string;
  icon?: ReactNode;
  isPressed?: boolean;
  act: () => void;
}

function Key({ label, icon, isPressed, act }: KeyProps) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-pressed={isPressed}
      // The keyboard stays open: the focus is not taken from the terminal.
      onPointerDown={(event) => event.preventDefault()}
      onClick={act}
      className={`flex min-h-11 min-w-11 flex-1 items-center justify-center rounded-sm border px-2 text-[13px] ${isPressed ? "border-accent bg-accent text-accent-ink" : "border-line bg-raised"}`}
    >
      {icon ?? label}
    </button>
  );
}
