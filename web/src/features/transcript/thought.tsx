/** What the model thought, folded until somebody wants to read it. */
import { ChevronRight } from "lucide-react";
import { useText } from "@/store/text";
import { Markdown } from "@/ui/markdown";

export function Thought({ source }: { source: string }) {
  const text = useText();
  return (
    <details className="group text-[14px] text-muted">
      <summary className="flex min-h-9 cursor-pointer list-none items-center gap-1.5 text-faint hover:text-ink">
        <ChevronRight size={14} className="transition-transform group-open:rotate-90" />
        {text.talk.thought}
      </summary>
      <div className="ml-1.5 border-l border-line pl-4">
        <Markdown source={source} />
      </div>
    </details>
  );
}
