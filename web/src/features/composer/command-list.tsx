/** Commands that fit what is being typed, above the field; the keys stay in the field. */
import { useText } from "@/store/text";
import { Plain } from "@/ui/plain";

export interface CommandsProps {
  commands: string[];
  at: number;
  choose: (command: string) => void;
}

export function Commands({ commands, at, choose }: CommandsProps) {
  const text = useText();
  return (
    <div
      id="slash-commands"
      role="listbox"
      aria-label={text.composer.commands}
      className="mb-1.5 max-h-[40dvh] overflow-y-auto rounded-lg border border-line-strong bg-raised p-1"
    >
      {commands.map((command, index) => (
        <button
          key={command}
          type="button"
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          onClick={() => choose(command)}
          className={`flex min-h-11 w-full items-center rounded-sm px-3 text-left font-mono text-[14px] lg:min-h-8 ${index === at ? "bg-accent-soft" : "hover:bg-hover"}`}
        >
          <Plain text={`/${command}`} />
        </button>
      ))}
    </div>
  );
}
