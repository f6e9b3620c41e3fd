/** The folders of a machine, to choose one: going in and out, making one, giving one another name. */
import { CornerLeftUp, Folder, FolderPlus, Pencil } from "lucide-react";
import { useEffect, useState } from "react";
import { createFolder, listFolders, renameFolder } from "@/store/folder-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { Skeleton } from "@/ui/states";
import { FIELD } from "./field";

export interface FolderPickerProps {
  deviceId: number;
  path: string | undefined;
  choose: (path: string) => void;
}

export function FolderPicker({ deviceId, path, choose }: FolderPickerProps) {
  const text = useText();
  const [typed, setTyped] = useState("");
  const [folders, setFolders] = useState<string[] | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const [naming, setNaming] = useState<"new" | "rename" | null>(null);
  useEffect(() => {
    let isCurrent = true;
    listFolders(deviceId, path).then(
      (list) => {
        if (!isCurrent) return;
        setFolders(list.folders);
        setTyped(list.path);
        setNote(list.truncated ? text.create.truncated : null);
        if (path === undefined) choose(list.path);
      },
      (error: unknown) => {
        if (!isCurrent) return;
        setFolders([]);
        setNote(errorText(text, error));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [deviceId, path, choose, text]);
  const separator = typed.includes("\\") ? "\\" : "/";
  const parent = typed.slice(0, typed.replace(/[\\/]+$/, "").lastIndexOf(separator)) || separator;
  const go = (next: string) => {
    setFolders(null);
    choose(next);
  };
  const here = typed.replace(/[\\/]+$/, "");
  const attempt = (work: Promise<string>) =>
    work.then(
      (made) => {
        setNaming(null);
        go(made);
      },
      (error: unknown) => setNote(errorText(text, error)),
    );
  return (
    <div className="flex flex-col gap-1.5">
      <label className="flex flex-col gap-1.5 text-[13px] text-muted">
        {text.create.folder}
        <input
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => typed !== path && typed !== "" && go(typed)}
          className={`${FIELD} font-mono text-[13.5px]`}
        />
      </label>
      <ul className="h-52 overflow-y-auto rounded-md border border-line bg-bg p-1">
        <li>
          <FolderRow label={text.create.up} icon={<CornerLeftUp size={15} />} act={() => go(parent)} />
        </li>
        {folders === null && (
          <li className="p-3">
            <Skeleton label={text.tool.loading} rows={4} />
          </li>
        )}
        {folders?.map((folder) => (
          <li key={folder}>
            <FolderRow
              label={folder}
              icon={<Folder size={15} />}
              act={() => go(typed.replace(/[\\/]+$/, "") + separator + folder)}
            />
          </li>
        ))}
        {folders?.length === 0 && <li className="p-3 text-[13px] text-faint">{text.create.empty}</li>}
      </ul>
      {naming === null ? (
        <div className="flex flex-wrap gap-2">
          <Button kind="quiet" disabled={folders === null} onClick={() => setNaming("new")}>
            <FolderPlus size={15} /> {text.folder.make}
          </Button>
          <Button kind="quiet" disabled={folders === null || here === ""} onClick={() => setNaming("rename")}>
            <Pencil size={15} /> {text.folder.rename}
          </Button>
        </div>
      ) : (
        <FolderName
          key={naming}
          label={naming === "new" ? text.folder.newName : text.folder.otherName}
          first={naming === "new" ? "" : here.slice(here.lastIndexOf(separator) + 1)}
          close={() => setNaming(null)}
          act={(name) =>
            attempt(
              naming === "new" ? createFolder(deviceId, here || separator, name) : renameFolder(deviceId, here, name),
            )
          }
        />
      )}
      {note && (
        <p role="status" className="text-[13px] text-muted">
          {note}
        </p>
      )}
    </div>
  );
}

function FolderRow({ label, icon, act }: { label: string; icon: React.ReactNode; act: () => void }) {
  return (
    <button
      type="button"
      onClick={act}
      className="flex min-h-11 w-full items-center gap-2 rounded-sm px-2 text-left text-[14px] hover:bg-hover lg:min-h-8"
    >
      <span className="text-faint">{icon}</span>
      <span className="truncate">
        <Plain text={label} />
      </span>
    </button>
  );
}

interface FolderNameProps {
  label: string;
  first: string;
  close: () => void;
  act: (name: string) => void;
}

/** A name that is asked for in its place; Enter takes it and does not send the form around it. */
function FolderName({ label, first, close, act }: FolderNameProps) {
  const text = useText();
  const [name, setName] = useState(first);
  const isReady = name.trim() !== "" && name.trim() !== first;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <label className="flex min-w-40 flex-1 flex-col gap-1.5 text-[13px] text-muted">
        {label}
        <input
          autoFocus
          value={name}
          maxLength={255}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Enter" && isReady) act(name.trim());
            else if (event.key === "Escape") close();
            else if (event.key !== "Enter") return;
            event.preventDefault();
            event.stopPropagation();
          }}
          className={FIELD}
        />
      </label>
      <Button onClick={close}>{text.create.cancel}</Button>
      <Button kind="main" disabled={!isReady} onClick={() => act(name.trim())}>
        {text.menu.save}
      </Button>
    </div>
  );
}
