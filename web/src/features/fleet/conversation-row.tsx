/** A conversation in the list: state with words, name, what it is at, how old. */
import { BellOff } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { glance, type Place } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useSlowNow } from "@/store/clock";
import { useUnsure } from "@/store/presence";
import { useSettings } from "@/store/settings";
import { useFormats, useText } from "@/store/text";
import { standingLabel } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { StateDot } from "@/ui/state-dot";

export interface ConversationRowProps {
  place: Place;
  isCurrent: boolean;
  showsPlace?: boolean;
}

export const ConversationRow = memo(function ConversationRow({
  place,
  isCurrent,
  showsPlace = false,
}: ConversationRowProps) {
  const text = useText();
  const formats = useFormats();
  const now = useSlowNow();
  const { conversation, workspace, machine } = place;
  const waiting = useApp(
    (app) => app.world.decisions.filter((one) => one.conversationId === conversation.conversationId).length,
  );
  const state = glance(place);
  const isUnsure = useUnsure();
  const standing =
    isUnsure && state === "offline" ? text.connection.connecting : standingLabel(text, state, conversation);
  const isMuted = useSettings((settings) => settings.muted.includes(conversation.conversationId));
  // What is faint elsewhere could not be read on the colour of the current row.
  const faint = isCurrent ? "text-muted" : "text-faint";
  const kind = conversation.skillType === "general" ? null : text.skill[conversation.skillType];
  return (
    <li>
      <Link
        href={`/c/${encodeURIComponent(conversation.conversationId)}`}
        aria-current={isCurrent ? "page" : undefined}
        className={`flex min-h-11 items-center gap-2 rounded-sm px-2 py-1 text-[14px] lg:min-h-9 ${isCurrent ? "bg-accent-soft text-ink" : "hover:bg-hover"}`}
      >
        <StateDot state={state} label={standing} />
        <span className="min-w-0 flex-1">
          <span
            className={`block truncate leading-snug ${state === "unread" || state === "needed" ? "font-semibold" : ""}`}
          >
            <Plain text={conversation.name} />
          </span>
          {(state === "error" || state === "suspect") && (
            <span
              title={standing}
              aria-hidden="true"
              className={`block truncate text-[12px] leading-snug ${state === "error" ? "text-red" : "text-amber"}`}
            >
              <Plain text={standing} />
            </span>
          )}
          {showsPlace && (
            <span className={`block truncate text-[12px] leading-snug ${faint}`}>
              {workspace.name} · {machine.name}
            </span>
          )}
        </span>
        {isMuted && <BellOff size={13} aria-label={text.menu.muted} className={`shrink-0 ${faint}`} />}
        {kind && <span className={`shrink-0 rounded-sm border border-line px-1.5 text-[11.5px] ${faint}`}>{kind}</span>}
        {state === "needed" ? (
          <span className="shrink-0 rounded-full bg-amber-fill px-1.5 text-[12px] font-semibold leading-[18px] text-amber-ink">
            {Math.max(1, waiting)}
          </span>
        ) : (
          conversation.updatedAt !== undefined && (
            <span className={`shrink-0 text-[12px] ${state === "working" ? "text-blue" : faint}`}>
              {state === "working" && `${standing} · `}
              {formats.age(conversation.updatedAt, now)}
            </span>
          )
        )}
      </Link>
    </li>
  );
});
