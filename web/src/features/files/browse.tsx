/** All files of a folder, one folder at a time, and what is in a file. */
import { CornerLeftUp, File, Folder as FolderIcon, Link2 } from "lucide-react";
import { type ReactNode, useCallback, useState } from "react";
import type { FileEntry } from "@/gen";
import type { Place } from "@/model/fleet";
import { type FileText, type Folder as FolderList, listFiles, readFile, readPicture } from "@/store/file-acts";
import { useFormats, useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Coloured } from "@/ui/code";
import { CopyButton } from "@/ui/copy";
import { languageOfPath } from "@/ui/highlight";
import { useLoaded } from "@/ui/loaded";
import { Picture, pictureKind } from "@/ui/picture";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";

export function Browse({ place }: { place: Place }) {
  const [at, setAt] = useState({ path: "", isFile: false });
  const up = () => setAt({ path: at.path.split("/").slice(0, -1).join("/"), isFile: false });
  return (
    <>
      {at.path !== "" && <Row icon={<CornerLeftUp size={16} />} name={at.path} act={up} isMuted />}
      {at.isFile && pictureKind(at.path) ? (
        <Drawn key={at.path} place={place} path={at.path} mimeType={pictureKind(at.path) as string} />
      ) : at.isFile ? (
        <Contents key={at.path} place={place} path={at.path} />
      ) : (
        <Names
          key={at.path}
          place={place}
          path={at.path}
          open={(name, isFile) => setAt({ path: at.path === "" ? name : `${at.path}/${name}`, isFile })}
        />
      )}
    </>
  );
}

interface NamesProps {
  place: Place;
  path: string;
  open: (name: string, isFile: boolean) => void;
}

function Names({ place, path, open }: NamesProps) {
  const text = useText();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another folder is the only reason to ask again.
  const load = useCallback(() => listFiles(place, path), [path]);
  const { value, error, again } = useLoaded<FolderList>(load);
  if (error) return <Failed error={error} again={again} />;
  if (!value) return <Skeleton label={text.tool.loading} />;
  if (value.entries.length === 0) return <EmptyState title={text.files.empty} />;
  const isFolder = (one: FileEntry) => (one.targetKind ?? one.kind) === "folder";
  const sorted = [...value.entries].sort((a, b) => Number(isFolder(b)) - Number(isFolder(a)));
  return (
    <>
      <ul className="overflow-hidden rounded-lg border border-line">
        {sorted.map((entry) => (
          <li key={entry.name} className="border-b border-line bg-surface last:border-0">
            <Entry entry={entry} open={open} />
          </li>
        ))}
      </ul>
      {value.isCut && <p className="text-[13px] text-muted">{text.files.more}</p>}
    </>
  );
}

function Entry({ entry, open }: { entry: FileEntry; open: NamesProps["open"] }) {
  const formats = useFormats();
  const kind = entry.kind === "link" ? entry.targetKind : entry.kind;
  const isOpenable = kind === "file" || kind === "folder";
  const Icon = kind === "folder" ? FolderIcon : entry.kind === "link" ? Link2 : File;
  return (
    <Row
      icon={<Icon size={16} className={kind === "folder" ? "text-accent" : "text-faint"} />}
      name={entry.name}
      isMuted={!isOpenable}
      act={isOpenable ? () => open(entry.name, kind === "file") : undefined}
    >
      {entry.size !== undefined && `${formats.compact(entry.size)}B`}
    </Row>
  );
}

interface RowProps {
  icon: ReactNode;
  name: string;
  isMuted?: boolean;
  act?: () => void;
  children?: ReactNode;
}

function Row({ icon, name, isMuted = false, act, children }: RowProps) {
  return (
    <button
      type="button"
      disabled={!act}
      onClick={act}
      className="flex min-h-11 w-full items-center gap-2.5 px-3 text-left text-[14px] enabled:hover:bg-hover lg:min-h-9"
    >
      <span className="shrink-0 text-faint">{icon}</span>
      <span dir="ltr" className={`min-w-0 flex-1 truncate font-mono text-[13px] ${isMuted ? "text-muted" : ""}`}>
        <Plain text={name} />
      </span>
      <span className="shrink-0 text-[12.5px] text-faint tabular-nums">{children}</span>
    </button>
  );
}

function Drawn({ place, path, mimeType }: { place: Place; path: string; mimeType: string }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is the only reason to ask again.
  const load = useCallback(() => readPicture(place, path), [path]);
  return <Picture label={path} mimeType={mimeType} load={load} />;
}

function Contents({ place, path }: { place: Place; path: string }) {
  const text = useText();
  const formats = useFormats();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is the only reason to ask again.
  const load = useCallback(() => readFile(place, path), [path]);
  const { value, error, again } = useLoaded<FileText>(load);
  if (error) return <Failed error={error} again={again} />;
  if (!value) return <Skeleton label={text.tool.loading} />;
  if (value.isBinary) return <EmptyState title={text.files.binary} help={`${formats.compact(value.size)}B`} />;
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-code">
      <figcaption className="flex items-center justify-between border-b border-line pl-3 text-[12.5px] text-faint">
        <span>{formats.compact(value.size)}B</span>
        <CopyButton value={value.text} />
      </figcaption>
      <pre dir="ltr" tabIndex={0} className="overflow-x-auto p-3 font-mono text-[12.5px] leading-[1.6]">
        <Coloured code={value.text} language={value.next === undefined ? (languageOfPath(path) ?? "") : ""} />
      </pre>
      {value.next !== undefined && (
        <p className="border-t border-line px-3 py-2 text-[13px] text-muted">
          {text.files.cut(formats.compact(value.text.length))}
        </p>
      )}
    </figure>
  );
}

function Failed({ error, again }: { error: string; again: () => void }) {
  const text = useText();
  return (
    <EmptyState title={text.files.notLoaded} help={error}>
      <Button onClick={again}>{text.connection.retry}</Button>
    </EmptyState>
  );
}
