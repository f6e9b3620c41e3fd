/** New workspaces from folders of a machine, and new conversations in them. */
import { CornerLeftUp, Folder } from "lucide-react";
import { useEffect, useState } from "react";
import type { SkillType } from "@/gen";
import { createConversation, createWorkspace, listFolders } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { Skeleton } from "@/ui/states";
import { useAttempt } from "./attempt";

export interface Target {
  deviceId: number;
  workspaceId?: string;
}

export interface CreateProps {
  target: Target;
  close: () => void;
  /** Opens what was made. */
  open: (conversationId: string) => void;
}

export function Create({ target, close, open }: CreateProps) {
  const text = useText();
  return (
    <Dialog title={target.workspaceId ? text.fleet.newConversation : text.fleet.newWorkspace} onClose={close}>
      {target.workspaceId ? (
        <NewConversation deviceId={target.deviceId} workspaceId={target.workspaceId} close={close} open={open} />
      ) : (
        <NewWorkspace deviceId={target.deviceId} close={close} open={open} />
      )}
    </Dialog>
  );
}

const FIELD = "min-h-11 w-full rounded-md border border-line-strong bg-bg px-3 text-[15px] text-ink";
const SKILLS: SkillType[] = ["general", "planner", "worker"];

interface NewProps {
  deviceId: number;
  close: () => void;
  open: (conversationId: string) => void;
}

function NewConversation({ deviceId, workspaceId, close, open }: NewProps & { workspaceId: string }) {
  const text = useText();
  const [name, setName] = useState(text.create.defaultName);
  const [skill, setSkill] = useState<SkillType>("general");
  const { error, run, isBusy } = useAttempt(close, open);
  return (
    <form
      className="flex flex-col gap-4 p-5"
      onSubmit={(event) => {
        event.preventDefault();
        const wish = { deviceId, workspaceId, name: name.trim() };
        run(wish, () => createConversation(deviceId, workspaceId, wish.name, skill));
      }}
    >
      <label className="flex flex-col gap-1.5 text-[13px] text-muted">
        {text.create.name}
        <input
          data-first
          value={name}
          onChange={(event) => setName(event.target.value)}
          onFocus={(event) => event.target.select()}
          className={FIELD}
        />
      </label>
      <fieldset className="flex flex-col gap-1.5">
        <legend className="mb-1.5 text-[13px] text-muted">{text.create.kind}</legend>
        {SKILLS.map((one) => (
          <label
            key={one}
            className={`flex min-h-11 items-center gap-3 rounded-md border px-3 py-2 text-[14px] ${one === skill ? "border-accent bg-accent-soft" : "border-line"}`}
          >
            <input
              type="radio"
              name="skill"
              checked={one === skill}
              onChange={() => setSkill(one)}
              className="size-4 accent-[var(--accent)]"
            />
            <span>
              <span className="font-medium">{text.skill[one]}</span>
              <span className="ml-2 text-[13px] text-muted">{text.skill[`${one}Help`]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Foot error={error} isReady={name.trim() !== "" && !isBusy} close={close} />
    </form>
  );
}

function NewWorkspace({ deviceId, close, open }: NewProps) {
  const text = useText();
  const machine = useApp((app) => app.world.fleet.find((one) => one.deviceId === deviceId));
  const [name, setName] = useState("");
  const [path, setPath] = useState<string | undefined>(undefined);
  const { error, run, isBusy } = useAttempt(close, open);
  const last = path?.split(/[\\/]/).filter(Boolean).at(-1) ?? "";
  return (
    <form
      className="flex flex-col gap-4 p-5"
      onSubmit={(event) => {
        event.preventDefault();
        const wish = { deviceId, name: name.trim() || last };
        if (path) run(wish, () => createWorkspace(deviceId, wish.name, path));
      }}
    >
      <p className="text-[13px] text-muted">
        {text.create.machine}: {machine?.icon} {machine?.name}
      </p>
      <FolderPicker deviceId={deviceId} path={path} choose={setPath} />
      <label className="flex flex-col gap-1.5 text-[13px] text-muted">
        {text.create.name}
        <input value={name} placeholder={last} onChange={(event) => setName(event.target.value)} className={FIELD} />
      </label>
      <Foot error={error} isReady={path !== undefined && !isBusy} close={close} />
    </form>
  );
}

function FolderPicker({
  deviceId,
  path,
  choose,
}: {
  deviceId: number;
  path: string | undefined;
  choose: (path: string) => void;
}) {
  const text = useText();
  const [typed, setTyped] = useState("");
  const [folders, setFolders] = useState<string[] | null>(null);
  const [note, setNote] = useState<string | null>(null);
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
      {note && <p className="text-[13px] text-muted">{note}</p>}
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

function Foot({ error, isReady, close }: { error: string | null; isReady: boolean; close: () => void }) {
  const text = useText();
  return (
    <>
      {error && (
        <p role="alert" className="text-[13px] text-red">
          {error}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>{text.create.cancel}</Button>
        <Button kind="main" type="submit" disabled={!isReady}>
          {text.create.create}
        </Button>
      </div>
    </>
  );
}
