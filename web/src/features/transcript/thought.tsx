/** What the model thought, folded until somebody wants to read it. */
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useText } from "@/store/text";
import { Markdown } from "@/ui/markdown";

export function Thought({ source, isOpen = false }: { source: string; isOpen?: boolean }) {
  const text = useText();
  const [isShown, setShown] = useState(false);
  return (
    <details className="group text-[14px] text-muted" onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary className="flex min-h-11 cursor-pointer list-none items-center gap-1.5 text-faint hover:text-ink lg:min-h-9">
        <ChevronRight size={14} className="transition-transform group-open:rotate-90" />
        {text.talk.thought}
      </summary>
      {isShown && (
        <div className="ml-1.5 border-l border-line pl-4">
          <Markdown source={source} isOpen={isOpen} />
        </div>
      )}
    </details>
  );
}
