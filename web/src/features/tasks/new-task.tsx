/** Writes a task into a workspace. */
import { useState } from "react";
import { useApp } from "@/store/app";
import { createTask } from "@/store/task-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";
import { useOnce } from "@/ui/once";

const FIELD = "w-full rounded-md border border-line-strong bg-bg px-3 text-[15px] text-ink";

export function NewTask({ close }: { close: () => void }) {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const places = fleet.flatMap(({ deviceId, name, icon, isOnline, workspaces }) =>
    isOnline
      ? workspaces.map((one) => ({
          deviceId,
          workspaceId: one.workspaceId,
          label: `${one.name} · ${icon} ${name}`,
        }))
      : [],
  );
  const [where, setWhere] = useState(places[0]?.workspaceId);
  const [title, setTitle] = useState("");
  const [content, setContent] = useState("");
  const [error, setError] = useState<string | null>(null);
  const { isBusy, once } = useOnce();
  const place = places.find((one) => one.workspaceId === where) ?? places[0];
  const isReady = place !== undefined && title.trim() !== "" && !isBusy;
  const save = () =>
    once(async () => {
      if (!place) return;
      try {
        await createTask(place, title.trim(), content);
        close();
      } catch (failure) {
        setError(errorText(text, failure));
      }
    });
  return (
    <Dialog title={text.tasks.add} onClose={close}>
      <form
        className="flex flex-col gap-4 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) save();
        }}
      >
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.tasks.title}
          <input
            data-first
            dir="auto"
            value={title}
            onChange={(event) => setTitle(event.target.value)}
            className={`${FIELD} min-h-11`}
          />
        </label>
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.tasks.content}
          <textarea
            dir="auto"
            rows={6}
            value={content}
            onChange={(event) => setContent(event.target.value)}
            className={`${FIELD} py-2.5`}
          />
        </label>
        <label className="flex flex-col gap-1.5 text-[13px] text-muted">
          {text.tasks.where}
          <select
            value={place?.workspaceId}
            onChange={(event) => setWhere(event.target.value)}
            className={`${FIELD} min-h-11`}
          >
            {places.map((one) => (
              <option key={one.workspaceId} value={one.workspaceId}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
        {error && (
          <p role="alert" className="text-[13.5px] text-red">
            {error}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{text.create.cancel}</Button>
          <Button kind="main" type="submit" disabled={!isReady}>
            {text.create.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
