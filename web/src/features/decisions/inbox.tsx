/** Everything that waits for a person, over all machines; below it what finished and what is at work. */
import { Inbox as InboxIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { find, glance, type Place, places } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useSlowNow } from "@/store/clock";
import { useFormats, useText } from "@/store/text";
import { Boundary } from "@/ui/boundary";
import { standingLabel } from "@/ui/label";
import { StateDot } from "@/ui/state-dot";
import { EmptyState } from "@/ui/states";
import { BrokenCard, DecisionCard } from "./card";
import { RecentlyDecided } from "./recent";

export function Inbox() {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const decisions = useApp((app) => app.world.decisions);
  const all = places(fleet);
  const known = new Set(decisions.map((one) => one.conversationId));
  const unseen = all.filter((place) => glance(place) === "needed" && !known.has(place.conversation.conversationId));
  const finished = all.filter((place) => glance(place) === "unread");
  const working = all.filter((place) => glance(place) === "working");
  // Whatever comes or goes moves the others; none of them takes a press that was meant for another.
  const order = decisions.map((one) => one.toolUseId).join(" ");
  const isQuiet = decisions.length + unseen.length === 0;
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex min-h-full w-full max-w-[740px] flex-col gap-4 px-3 py-4 lg:px-4 lg:py-6">
        <h1 className="px-1 text-[20px] font-semibold">{text.inbox.title}</h1>
        {isQuiet && (
          <div className="rounded-lg border border-line py-4">
            <EmptyState icon={<InboxIcon size={30} />} title={text.inbox.none} help={text.inbox.noneHelp} />
          </div>
        )}
        {decisions.map((decision) => (
          <article
            key={decision.conversationId + decision.toolUseId}
            className="overflow-hidden rounded-lg border border-amber-fill/70 bg-raised"
          >
            <PlaceLine place={find(fleet, decision.conversationId)} />
            <Boundary of={decision} broken={() => <BrokenCard />}>
              <DecisionCard decision={decision} around={order} />
            </Boundary>
          </article>
        ))}
        {unseen.map((place) => (
          <article
            key={place.conversation.conversationId}
            className="overflow-hidden rounded-lg border border-amber-fill/70 bg-raised"
          >
            <PlaceLine place={place} />
            <p className="px-4 py-3 text-[14px] text-muted">{text.decision.unseen}</p>
          </article>
        ))}
        <RecentlyDecided />
        {finished.length > 0 && <Group title={text.inbox.recent}>{finished.map(row)}</Group>}
        {working.length > 0 && <Group title={text.inbox.working}>{working.map(row)}</Group>}
      </div>
    </div>
  );
}

function row(place: Place): ReactNode {
  return <PlaceRow key={place.conversation.conversationId} place={place} />;
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="px-1 pb-1.5 text-[13px] font-semibold text-muted">{title}</h2>
      <ul className="overflow-hidden rounded-lg border border-line">{children}</ul>
    </section>
  );
}

function PlaceLine({ place }: { place: Place | undefined }) {
  const text = useText();
  const [, go] = useLocation();
  if (!place) return null;
  return (
    <button
      type="button"
      title={text.decision.openConversation}
      onClick={() => go(`/c/${encodeURIComponent(place.conversation.conversationId)}`)}
      className="flex min-h-11 w-full items-center gap-2 border-b border-line bg-surface px-4 py-1.5 text-left text-[13px] text-muted hover:bg-hover"
    >
      <span className="min-w-0 truncate font-medium text-ink">{place.conversation.name}</span>
      <span className="min-w-0 truncate">
        {place.workspace.name} · {place.machine.icon} {place.machine.name}
      </span>
    </button>
  );
}

function PlaceRow({ place }: { place: Place }) {
  const text = useText();
  const formats = useFormats();
  const now = useSlowNow();
  const [, go] = useLocation();
  const state = glance(place);
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        onClick={() => go(`/c/${encodeURIComponent(place.conversation.conversationId)}`)}
        className="flex min-h-12 w-full items-center gap-2.5 bg-surface px-3 text-left hover:bg-hover"
      >
        <StateDot state={state} label={standingLabel(text, state, place.conversation)} />
        <span className="min-w-0 flex-1 truncate">{place.conversation.name}</span>
        <span className="truncate text-[13px] text-faint">{place.workspace.name}</span>
        {place.conversation.updatedAt !== undefined && (
          <span className="shrink-0 text-[12.5px] text-faint">{formats.age(place.conversation.updatedAt, now)}</span>
        )}
      </button>
    </li>
  );
}
