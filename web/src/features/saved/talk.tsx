/** One saved session, to be read before one goes on with it. What was said stands whole, calls as one line each. */
import { GitFork } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useLocation } from "wouter";
import type { Entry } from "@/model/entries";
import { fromRows } from "@/model/history";
import { toolTarget, toolView } from "@/model/tools";
import { useRight } from "@/store/rights";
import { continueSaved, readSaved, type Shelf } from "@/store/saved-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText, toolLabel } from "@/ui/label";
import { Markdown } from "@/ui/markdown";
import { useParts } from "@/ui/parts";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { ToolIcon } from "@/ui/tool-icon";
import { BackToList } from "./screen";

export function SavedTalk({ deviceId, workspaceId, sessionId }: Shelf & { sessionId: string }) {
  const text = useText();
  const load = useCallback(
    (offset?: number) => readSaved({ deviceId, workspaceId }, sessionId, offset),
    [deviceId, workspaceId, sessionId],
  );
  const { items, error, isLoading, hasMore, more } = useParts(load);
  const entries = useMemo(() => fromRows(items ?? []).top, [items]);
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center border-b border-line px-2 py-1.5">
        <BackToList shelf={{ deviceId, workspaceId }} />
      </header>
      <section aria-label={text.talk.log} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto outline-none">
        <div className="mx-auto flex w-full max-w-[740px] flex-col gap-4 px-4 py-4">
          {items === null && isLoading && <Skeleton label={text.talk.loading} />}
          {items?.length === 0 && <EmptyState title={text.saved.blank} />}
          {entries.map((entry) => (
            <Said key={entry.key} entry={entry} />
          ))}
          {error && (
            <p role="alert" className="text-[13.5px] text-red">
              {error}
            </p>
          )}
          {(hasMore || error) && (
            <Button disabled={isLoading} onClick={more}>
              {error ? text.connection.retry : text.saved.further}
            </Button>
          )}
        </div>
      </section>
      <GoOn deviceId={deviceId} workspaceId={workspaceId} sessionId={sessionId} />
    </div>
  );
}

function GoOn({ deviceId, workspaceId, sessionId }: Shelf & { sessionId: string }) {
  const text = useText();
  const [, go] = useLocation();
  const mayWrite = useRight("prompt");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = () => {
    setBusy(true);
    setError(null);
    continueSaved({ deviceId, workspaceId }, sessionId)
      .then((id) => id !== "" && go(`/c/${encodeURIComponent(id)}`))
      .catch((failure: unknown) => setError(errorText(text, failure)))
      .finally(() => setBusy(false));
  };
  return (
    <footer className="safe-bottom border-t border-line">
      <div className="mx-auto flex max-w-[740px] flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
        <p className="min-w-0 flex-1 basis-60 text-[13px] text-muted">{text.saved.goOnHelp}</p>
        <Button kind="main" disabled={!mayWrite || isBusy} onClick={run} className="max-sm:w-full">
          <GitFork size={16} /> {text.saved.goOn}
        </Button>
        {error && (
          <p role="alert" className="w-full text-[13px] text-red">
            {error}
          </p>
        )}
      </div>
    </footer>
  );
}

function Said({ entry }: { entry: Entry }) {
  const text = useText();
  switch (entry.kind) {
    case "user":
      return (
        <div className="self-end rounded-lg bg-raised px-4 py-2.5">
          <span dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            <Plain text={entry.text} />
          </span>
        </div>
      );
    case "text":
      return <Markdown source={entry.text} />;
    case "tool": {
      const view = toolView(entry.toolName, entry.input);
      return (
        <p className="flex items-center gap-2 text-[13px] text-muted">
          <ToolIcon view={view} size={15} />
          <span className="shrink-0">{toolLabel(text, entry.toolName)}</span>
          <code dir="ltr" className="min-w-0 truncate">
            <Plain text={toolTarget(view)} />
          </code>
        </p>
      );
    }
    case "error":
      return (
        <p className="text-[13.5px] text-red [overflow-wrap:anywhere]">
          <Plain text={entry.text} />
        </p>
      );
    default:
      return null;
  }
}
