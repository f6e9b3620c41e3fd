/** What fits what is being typed, above the field; the keys stay in the field. */
import { File, Folder, Slash } from "lucide-react";
import { useText } from "@/store/text";
import { Plain } from "@/ui/plain";
import type { Choice } from "./complete";

export const CHOICES_ID = "composer-choices";

/** The name of a choice for those who cannot see which one is marked. */
export function choiceId(index: number): string {
  return `${CHOICES_ID}-${index}`;
}

export interface ChoicesProps {
  choices: Choice[];
  at: number;
  choose: (choice: Choice) => void;
}

export function Choices({ choices, at, choose }: ChoicesProps) {
  const text = useText();
  const isCommand = choices[0]?.kind === "command";
  return (
    <div
      id={CHOICES_ID}
      role="listbox"
      aria-label={isCommand ? text.composer.commands : text.composer.files}
      className="mb-1.5 max-h-[40dvh] overflow-y-auto rounded-lg border border-line-strong bg-raised p-1"
    >
      {choices.map((choice, index) => (
        <button
          key={choice.label}
          id={choiceId(index)}
          type="button"
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          // The field keeps the focus, and a phone its keyboard.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(choice)}
          className={`flex min-h-11 w-full items-center gap-2.5 rounded-sm px-3 text-left font-mono text-[14px] lg:min-h-8 ${index === at ? "bg-accent-soft" : "hover:bg-hover"}`}
        >
          <span className="shrink-0 text-faint">{ICONS[choice.kind]}</span>
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <Plain text={choice.kind === "folder" ? `${choice.label}/` : choice.label} />
          </span>
        </button>
      ))}
    </div>
  );
}

const ICONS = { command: <Slash size={15} />, folder: <Folder size={15} />, file: <File size={15} /> };
