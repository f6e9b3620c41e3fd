/** New workspaces from folders of a machine, and new conversations in them. */
import { useState } from "react";
import type { SkillType } from "@/gen";
import { createConversation, createWorkspace } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { useAttempt } from "./attempt";
import { FIELD } from "./field";
import { FolderPicker } from "./folders";

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
  const [isApart, setApart] = useState(false);
  const { error, run, isBusy } = useAttempt(close, open);
  return (
    <form
      className="flex flex-col gap-4 p-5"
      onSubmit={(event) => {
        event.preventDefault();
        const wish = { deviceId, workspaceId, name: name.trim() };
        run(wish, () => createConversation(deviceId, workspaceId, wish.name, skill, isApart ? {} : undefined));
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
      <label className="flex min-h-11 items-center gap-3 text-[14px]">
        <input
          type="checkbox"
          checked={isApart}
          onChange={(event) => setApart(event.target.checked)}
          className="size-4 shrink-0 accent-[var(--accent)]"
        />
        <span>
          {text.trees.wish}
          <span className="block text-[13px] text-muted">{text.trees.wishHelp}</span>
        </span>
      </label>
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
