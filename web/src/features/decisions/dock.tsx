/** The open decision of the conversation on the screen, docked above the composer, in reach of a thumb. */
import { ChevronLeft, ChevronRight, Maximize2, Minimize2 } from "lucide-react";
import { useEffect, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { useApp } from "@/store/app";
import { showDocked } from "@/store/docked";
import { useText } from "@/store/text";
import { Boundary } from "@/ui/boundary";
import { IconButton } from "@/ui/button";
import { BrokenCard, DecisionCard } from "./card";

export function DecisionDock({ conversationId }: { conversationId: string }) {
  const text = useText();
  const decisions = useApp(
    useShallow((app) => app.world.decisions.filter((one) => one.conversationId === conversationId)),
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const [isLarge, setLarge] = useState(false);
  // By its name, not by its number: what goes before it must not put another card in its place.
  const at = Math.max(
    0,
    decisions.findIndex((one) => one.toolUseId === chosen),
  );
  const decision = decisions[at];
  useEffect(() => showDocked(decision ?? null), [decision]);
  useEffect(() => () => showDocked(null), []);
  if (!decision) return null;
  const go = (to: number) => setChosen(decisions[to]?.toolUseId ?? null);
  const size = isLarge ? "fixed inset-2 z-40 max-h-none safe-bottom" : "relative max-h-[56dvh]";
  return (
    <div className="mx-auto w-full max-w-[740px] px-2 lg:px-4">
      <div className={`rise flex flex-col overflow-hidden rounded-lg border border-amber-fill/70 bg-raised ${size}`}>
        <Boundary of={decision} broken={() => <BrokenCard />}>
          <DecisionCard
            decision={decision}
            isDocked
            tools={
              <span className="flex shrink-0 items-center">
                {decisions.length > 1 && (
                  <>
                    <IconButton label={text.decision.previous} disabled={at === 0} onClick={() => go(at - 1)}>
                      <ChevronLeft size={17} />
                    </IconButton>
                    <span className="text-[13px] text-muted tabular-nums">
                      {text.decision.position(at + 1, decisions.length)}
                    </span>
                    <IconButton
                      label={text.decision.next}
                      disabled={at === decisions.length - 1}
                      onClick={() => go(at + 1)}
                    >
                      <ChevronRight size={17} />
                    </IconButton>
                  </>
                )}
                <IconButton
                  label={isLarge ? text.decision.shrink : text.decision.enlarge}
                  onClick={() => setLarge(!isLarge)}
                >
                  {isLarge ? <Minimize2 size={16} /> : <Maximize2 size={16} />}
                </IconButton>
              </span>
            }
          />
        </Boundary>
      </div>
    </div>
  );
}
