/** What differs from the last commit, file by file, with the difference on demand. */
import { ChevronRight, GitBranch, RefreshCw } from "lucide-react";
import { useCallback, useState } from "react";
import type { ChangedFile, ChangesResult } from "@/gen";
import type { Place } from "@/model/fleet";
import { parseUnified } from "@/model/unified";
import { loadChanges, loadDiff } from "@/store/file-acts";
import { useFormats, useText } from "@/store/text";
import { Button, IconButton } from "@/ui/button";
import { DiffView } from "@/ui/diff";
import { useLoaded } from "@/ui/loaded";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";

export function Changes({ place }: { place: Place }) {
  const text = useText();
  const id = place.conversation.conversationId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation is the only reason to ask again.
  const load = useCallback(() => loadChanges(place), [id]);
  const { value, error, isLoading, again } = useLoaded(load);
  if (error) {
    return (
      <EmptyState title={text.files.notLoaded} help={error}>
        <Button onClick={again}>{text.connection.retry}</Button>
      </EmptyState>
    );
  }
  if (!value) return <Skeleton label={text.tool.loading} />;
  return (
    <>
      <Standing changes={value} isLoading={isLoading} again={again} />
      {value.files.length === 0 && <EmptyState title={text.files.clean} help={text.files.cleanHelp} />}
      {value.files.length > 0 && (
        <ul className="overflow-hidden rounded-lg border border-line">
          {value.files.map((file) => (
            <ChangedRow key={file.path} place={place} file={file} />
          ))}
        </ul>
      )}
      {(value.truncated || value.files.length < (value.total ?? 0)) && (
        <p className="text-[13px] text-muted">{text.files.more}</p>
      )}
    </>
  );
}

function Standing({ changes, isLoading, again }: { changes: ChangesResult; isLoading: boolean; again: () => void }) {
  const text = useText();
  const { branch, head, ahead = 0, behind = 0, insertions = 0, deletions = 0 } = changes;
  return (
    <p className="flex items-center gap-2 text-[13.5px] text-muted">
      <GitBranch size={15} className="shrink-0" />
      <span dir="ltr" className="min-w-0 truncate font-mono text-ink">
        <Plain text={branch ?? head?.slice(0, 12) ?? text.files.noBranch} />
      </span>
      {ahead > 0 && <span title={text.files.ahead}>↑{ahead}</span>}
      {behind > 0 && <span title={text.files.behind}>↓{behind}</span>}
      <span className="ml-auto tabular-nums">
        <span className="text-green">+{insertions}</span> <span className="text-red">−{deletions}</span>
      </span>
      <IconButton label={text.files.refresh} disabled={isLoading} onClick={again}>
        <RefreshCw size={16} />
      </IconButton>
    </p>
  );
}

const COLOURS: Partial<Record<ChangedFile["kind"], string>> = {
  added: "text-green",
  untracked: "text-green",
  deleted: "text-red",
  conflicted: "text-amber",
};

function ChangedRow({ place, file }: { place: Place; file: ChangedFile }) {
  const text = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="border-b border-line bg-surface last:border-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-12 w-full items-center gap-2 px-3 py-1.5 text-left hover:bg-hover"
      >
        <ChevronRight size={15} className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`} />
        <span className="min-w-0 flex-1">
          <span dir="ltr" className="block font-mono text-[13px] [overflow-wrap:anywhere]">
            <Plain text={file.path} />
          </span>
          <span className={`text-[12.5px] ${COLOURS[file.kind] ?? "text-muted"}`}>
            {text.files.kinds[file.kind] ?? file.kind}
            {file.staged && ` · ${text.files.staged}`}
            {file.oldPath && (
              <>
                {" · "}
                <Plain text={file.oldPath} />
              </>
            )}
          </span>
        </span>
        {file.insertions !== undefined && (
          <span className="shrink-0 text-[12.5px] tabular-nums">
            <span className="text-green">+{file.insertions}</span>{" "}
            <span className="text-red">−{file.deletions ?? 0}</span>
          </span>
        )}
      </button>
      {isOpen && (
        <div className="px-3 pb-3">
          {file.withheld ? (
            <p className="text-[13px] text-amber">{text.files.withheld}</p>
          ) : file.binary ? (
            <p className="text-[13px] text-muted">{text.files.binary}</p>
          ) : (
            <Difference place={place} path={file.path} />
          )}
        </div>
      )}
    </li>
  );
}

function Difference({ place, path }: { place: Place; path: string }) {
  const text = useText();
  const formats = useFormats();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is the only reason to ask again.
  const load = useCallback(() => loadDiff(place, path), [path]);
  const { value, error } = useLoaded(load);
  if (error) return <p className="text-[13px] text-red">{error}</p>;
  if (!value) return <Skeleton label={text.tool.loading} rows={4} />;
  const files = parseUnified(value.diff);
  const hunks = files.flatMap((file) => file.hunks);
  return (
    <div className="flex flex-col gap-2">
      {files
        .flatMap((file) => file.notes)
        .map((note) => (
          <p key={note} dir="ltr" className="font-mono text-[12.5px] text-muted">
            <Plain text={note} />
          </p>
        ))}
      {hunks.map((hunk, index) => (
        <div key={index} className="flex flex-col gap-1">
          {hunk.around && (
            <p dir="ltr" className="font-mono text-[12px] text-faint [overflow-wrap:anywhere]">
              <Plain text={hunk.around} />
            </p>
          )}
          <DiffView diff={hunk.lines} />
        </div>
      ))}
      {value.isCut && <p className="text-[13px] text-muted">{text.files.cut(formats.compact(value.diff.length))}</p>}
    </div>
  );
}
