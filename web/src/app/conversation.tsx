/** The view of one conversation: head, list, open decision, composer. */
import { MessageSquareOff } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import { useLocation } from "wouter";
import { DropHint, useDrop } from "@/features/composer/attach";
import { Composer } from "@/features/composer/composer";
import { DecisionDock } from "@/features/decisions/dock";
import { ConversationHeader } from "@/features/header/conversation-header";
import { TranscriptList } from "@/features/transcript/list";
import { find } from "@/model/fleet";
import { openConversation } from "@/store/acts";
import { useApp } from "@/store/app";
import { endFinding, useFinding } from "@/store/finding";
import { usePlace } from "@/store/place";
import { useText } from "@/store/text";
import { Boundary } from "@/ui/boundary";
import { Button } from "@/ui/button";
import { EmptyState, Skeleton } from "@/ui/states";
import { brokenPart } from "./broken";

const Lent = lazy(() => import("@/features/terminal/lent").then((file) => ({ default: file.Lent })));
const Offer = lazy(() => import("@/features/settings/offer").then((file) => ({ default: file.Offer })));
const FindBar = lazy(() => import("@/features/find/find-bar").then((file) => ({ default: file.FindBar })));

export function Conversation({ id }: { id: string }) {
  const text = useText();
  const [, go] = useLocation();
  const place = usePlace(id);
  const isListed = useApp((app) => app.world.fleet.some((machine) => machine.listedAt > 0 && machine.isOnline));
  const isFinding = useFinding((finding) => finding.conversationId === id);
  const { isOver, zone } = useDrop(place);
  useEffect(() => {
    openConversation(id);
    return () => {
      endFinding();
      if (find(useApp.getState().world.fleet, id)) openConversation(null);
    };
  }, [id]);
  if (!place) {
    if (!isListed) {
      return (
        <div className="mx-auto max-w-[740px] p-5">
          <Skeleton label={text.talk.loading} />
        </div>
      );
    }
    return (
      <EmptyState icon={<MessageSquareOff size={30} />} title={text.talk.missing} help={text.talk.missingHelp}>
        <Button onClick={() => go("/list")}>{text.nav.conversations}</Button>
      </EmptyState>
    );
  }
  return (
    <div className="relative flex h-full flex-col" {...zone}>
      {isOver && <DropHint />}
      <ConversationHeader place={place} />
      {isFinding && (
        <Part>
          <FindBar place={place} />
        </Part>
      )}
      <TranscriptList place={place} />
      <DecisionDock conversationId={id} />
      <Part>
        <Lent place={place} />
        <Offer status={place.conversation.status} />
      </Part>
      <div className="safe-bottom">
        <Composer place={place} />
      </div>
    </div>
  );
}

/** What is loaded for itself, and may fail for itself. */
function Part({ children }: { children: ReactNode }) {
  return (
    <Boundary broken={brokenPart}>
      <Suspense fallback={null}>{children}</Suspense>
    </Boundary>
  );
}
