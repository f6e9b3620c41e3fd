/** One task: its text, how far it is, and the hand that says how it ended. */
import { useCallback, useState } from "react";
import type { TaskStatus, TaskSummary } from "@/gen";
import { useRight } from "@/store/rights";
import { loadTask, markTask, type TaskPlace } from "@/store/task-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";
import { useLoaded } from "@/ui/loaded";
import { Markdown } from "@/ui/markdown";
import { useOnce } from "@/ui/once";
import { Skeleton } from "@/ui/states";

/** What a hand may say of a task; that it runs is the worker's to say. */
const MARKS: TaskStatus[] = ["pending", "done", "failed"];

export function TaskSheet({ place, task, close }: { place: TaskPlace; task: TaskSummary; close: () => void }) {
  const text = useText();
  const mayWrite = useRight("prompt");
  const [error, setError] = useState<string | null>(null);
  const { isBusy, once } = useOnce();
  // The name of the file means this one even if two tasks have the same id.
  const taskId = task.file ?? task.id;
  const { deviceId, workspaceId } = place;
  const load = useCallback(() => loadTask({ deviceId, workspaceId }, taskId), [deviceId, workspaceId, taskId]);
  const loaded = useLoaded(load);
  const mark = (status: TaskStatus) =>
    once(async () => {
      try {
        await markTask(place, taskId, status);
        close();
      } catch (failure) {
        setError(errorText(text, failure));
      }
    });
  const isMarkable = mayWrite && task.problem === undefined && task.status !== "running";
  const why = error ?? loaded.error;
  return (
    <Dialog title={task.title} onClose={close} width="max-w-2xl">
      <div className="flex flex-col gap-4 p-5">
        {loaded.isLoading && <Skeleton label={text.tool.loading} rows={4} />}
        {loaded.value && <Markdown source={loaded.value.content || text.tasks.blank} />}
        {loaded.value?.truncated && <p className="text-[13px] text-muted">{text.tasks.cut}</p>}
        {why && (
          <p role="alert" className="text-[13.5px] text-red">
            {why}
          </p>
        )}
        {isMarkable && (
          <div className="flex flex-wrap items-center gap-2 border-t border-line pt-4">
            <span className="text-[13px] text-muted">{text.tasks.mark}</span>
            {MARKS.filter((status) => status !== task.status).map((status) => (
              <Button key={status} disabled={isBusy} onClick={() => mark(status)}>
                {text.work[status]}
              </Button>
            ))}
          </div>
        )}
      </div>
    </Dialog>
  );
}
