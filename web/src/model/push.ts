/** What a machine has to be told so that it tells this device what the person wants, and when. Pure. */
import type { NotificationsResult, NotificationsSet } from "@/gen";
import type { QuietHours } from "./news";

export interface Wishes {
  muted: readonly string[];
  quiet: QuietHours | null;
  timeZone: string;
}

/** Whether the machine can reach this device by push. */
export function isReached({ subscriptions }: NotificationsResult): boolean {
  return subscriptions.some((one) => one.isOwn);
}

/** The changes that make a machine's memory the same as the wishes; `has` says which conversations are its own. */
export function changesTo(
  known: NotificationsResult,
  { muted, quiet, timeZone }: Wishes,
  has: (conversationId: string) => boolean,
): NotificationsSet[] {
  const own = muted.filter(has);
  const changes: NotificationsSet[] = [
    ...own
      .filter((id) => !known.mutedConversations.includes(id))
      .map((conversationId) => ({ conversationId, muted: true })),
    ...known.mutedConversations
      .filter((id) => !own.includes(id))
      .map((conversationId) => ({ conversationId, muted: false })),
  ];
  const kept = known.quietHours;
  if (!quiet && kept) changes.push({ noQuietHours: true });
  const isSame = kept?.from === quiet?.from && kept?.until === quiet?.until && kept?.timeZone === timeZone;
  if (quiet && !isSame) changes.push({ quietHours: { ...quiet, timeZone } });
  return changes;
}
