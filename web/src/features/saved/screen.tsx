/** The saved sessions of a workspace: what the agent did in its folder, also without Estelle; to be read and gone on with. */
import { Archive, ArrowLeft, Bot, GitBranch } from "lucide-react";
import { useCallback } from "react";
import { Link, useLocation } from "wouter";
import type { SavedSession } from "@/gen";
import { useApp } from "@/store/app";
import { listSaved, type Shelf } from "@/store/saved-acts";
import { useFormats, useText } from "@/store/text";
import { MachineAway } from "@/ui/away";
import { Button } from "@/ui/button";
import { Page } from "@/ui/page";
import { useParts } from "@/ui/parts";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { SavedTalk } from "./talk";

export interface SavedScreenProps extends Shelf {
  /** The session that is read; none shows the list. */
  sessionId?: string;
}

export function SavedScreen({ deviceId, workspaceId, sessionId }: SavedScreenProps) {
  const text = useText();
  const machine = useApp((app) => app.world.fleet.find((one) => one.deviceId === deviceId));
  const workspace = machine?.workspaces.find((one) => one.workspaceId === workspaceId);
  if (!machine?.isOnline) return <MachineAway help={text.saved.offline} />;
  if (!workspace) return <EmptyState title={text.refusal.unknown_workspace} />;
  if (sessionId !== undefined) return <SavedTalk deviceId={deviceId} workspaceId={workspaceId} sessionId={sessionId} />;
  return (
    <Page title={text.saved.title(workspace.name)}>
      <p className="text-[14px] text-muted">{text.saved.help}</p>
      <List deviceId={deviceId} workspaceId={workspaceId} />
    </Page>
  );
}

function List({ deviceId, workspaceId }: Shelf) {
  const text = useText();
  const load = useCallback((offset?: number) => listSaved({ deviceId, workspaceId }, offset), [deviceId, workspaceId]);
  const { items, error, isLoading, hasMore, more } = useParts(load);
  return (
    <>
      {items === null && isLoading && <Skeleton label={text.tool.loading} />}
      {items?.length === 0 && (
        <EmptyState icon={<Archive size={30} />} title={text.saved.none} help={text.saved.noneHelp} />
      )}
      {items && items.length > 0 && (
        <ul className="overflow-hidden rounded-lg border border-line">
          {items.map((session) => (
            <SessionRow key={session.claudeSessionId} session={session} shelf={{ deviceId, workspaceId }} />
          ))}
        </ul>
      )}
      {error && (
        <p role="alert" className="text-[13.5px] text-red">
          {error}
        </p>
      )}
      {(hasMore || error) && (
        <Button disabled={isLoading} onClick={more}>
          {error ? text.connection.retry : text.saved.more}
        </Button>
      )}
    </>
  );
}

function SessionRow({ session, shelf }: { session: SavedSession; shelf: Shelf }) {
  const text = useText();
  const formats = useFormats();
  const { claudeSessionId, title, firstPrompt, branch, programmatic, conversationId, updatedAt } = session;
  const name = title ?? firstPrompt ?? text.saved.unnamed;
  const address =
    conversationId === undefined ? addressOf(shelf, claudeSessionId) : `/c/${encodeURIComponent(conversationId)}`;
  return (
    <li className="border-b border-line last:border-0">
      <Link
        href={address}
        className="flex min-h-12 flex-col justify-center gap-0.5 bg-surface px-3 py-2 hover:bg-hover"
      >
        <span dir="auto" className="line-clamp-2 text-[14.5px] [overflow-wrap:anywhere]">
          <Plain text={name} />
        </span>
        {firstPrompt !== undefined && firstPrompt !== name && (
          <span dir="auto" className="truncate text-[13px] text-muted">
            <Plain text={firstPrompt} />
          </span>
        )}
        <span className="flex flex-wrap items-center gap-x-3 text-[12.5px] text-faint">
          <span>{formats.moment(updatedAt)}</span>
          {branch && (
            <span className="flex items-center gap-1">
              <GitBranch size={12} /> <Plain text={branch} />
            </span>
          )}
          {programmatic && conversationId === undefined && (
            <span className="flex items-center gap-1">
              <Bot size={12} /> {text.saved.byProgram}
            </span>
          )}
          {conversationId !== undefined && <span className="text-accent">{text.saved.isHere}</span>}
        </span>
      </Link>
    </li>
  );
}

export function addressOf({ deviceId, workspaceId }: Shelf, sessionId?: string): string {
  const list = `/saved/${deviceId}/${encodeURIComponent(workspaceId)}`;
  return sessionId === undefined ? list : `${list}/${encodeURIComponent(sessionId)}`;
}

/** Back to the list from what is read. */
export function BackToList({ shelf }: { shelf: Shelf }) {
  const text = useText();
  const [, go] = useLocation();
  return (
    <Button kind="quiet" onClick={() => go(addressOf(shelf))}>
      <ArrowLeft size={16} /> {text.saved.all}
    </Button>
  );
}
