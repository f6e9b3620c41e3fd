/** The start: goes on where this device was, or says what to do first. */
import { useEffect } from "react";
import { useLocation } from "wouter";
import { startingPlace } from "@/model/fleet";
import { lastConversation } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Star } from "@/ui/star";
import { EmptyState } from "@/ui/states";

export function Home() {
  const text = useText();
  const [, go] = useLocation();
  const start = useApp((app) => startingPlace(app.world.fleet, lastConversation())?.conversation.conversationId);
  const isKnown = useApp((app) => app.world.fleet.length > 0);
  useEffect(() => {
    const isPhone = !matchMedia("(min-width: 768px)").matches;
    if (isPhone && isKnown) go("/list", { replace: true });
    else if (start) go(`/c/${encodeURIComponent(start)}`, { replace: true });
  }, [start, isKnown, go]);
  if (!isKnown)
    return <EmptyState icon={<Star size={40} />} title={text.fleet.noMachines} help={text.fleet.noMachinesHelp} />;
  return <EmptyState icon={<Star size={40} />} title={text.talk.choose} help={text.talk.chooseHelp} />;
}
