/** Tasks of all workspaces, by how far they are: side by side on a desk, one below the other on a phone. */
import { ListTodo, Plus } from "lucide-react";
import { useState } from "react";
import type { TaskStatus, TaskSummary, Workspace } from "@/gen";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import type { TaskPlace } from "@/store/task-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { Title } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState } from "@/ui/states";
import { WorkTabs } from "@/ui/work-tabs";
import { NewTask } from "./new-task";
import { Plan } from "./plan";
import { TaskSheet } from "./sheet";
import { Worker } from "./worker";

const ORDER: TaskStatus[] = ["running", "pending", "failed", "done"];
const COLOURS: Record<TaskStatus, string> = {
  running: "text-blue",
  pending: "text-muted",
  failed: "text-red",
  done: "text-green",
};

interface Placed extends TaskPlace {
  workspace: Workspace;
  task: TaskSummary;
}

export function Work() {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const mayWrite = useRight("prompt");
  const [chosen, setChosen] = useState<Placed | null>(null);
  const [isNew, setNew] = useState(false);
  const placed = fleet.flatMap(({ deviceId, workspaces }) =>
    workspaces.flatMap((workspace) =>
      workspace.tasks.map((task): Placed => ({ deviceId, workspaceId: workspace.workspaceId, workspace, task })),
    ),
  );
  const canAdd = mayWrite && fleet.some((machine) => machine.isOnline && machine.workspaces.length > 0);
  const add = canAdd && (
    <div className="flex flex-wrap justify-end gap-2">
      <Plan />
      <Button kind="main" onClick={() => setNew(true)}>
        <Plus size={16} /> {text.tasks.add}
      </Button>
    </div>
  );
  const workers = fleet.flatMap(({ deviceId, isOnline, workspaces }) =>
    workspaces
      .filter(({ tasks, workerStatus }) => tasks.length > 0 || workerStatus.on || workerStatus.running)
      .map((workspace) => ({ place: { deviceId, workspaceId: workspace.workspaceId }, workspace, isOnline })),
  );
  return (
    <section aria-label={text.work.title} tabIndex={0} className="@container h-full overflow-y-auto outline-none">
      <div className="mx-auto flex min-h-full w-full max-w-[1100px] flex-col gap-5 px-4 py-5">
        <Title>{text.work.title}</Title>
        <div className="flex flex-wrap items-center justify-between gap-3">
          <WorkTabs />
          {placed.length > 0 && add}
        </div>
        {workers.map((one) => (
          <Worker key={one.place.workspaceId} {...one} />
        ))}
        {placed.length === 0 ? (
          <EmptyState icon={<ListTodo size={30} />} title={text.work.none} help={text.work.noneHelp}>
            {add}
          </EmptyState>
        ) : (
          <Board placed={placed} choose={setChosen} />
        )}
      </div>
      {chosen && <TaskSheet place={chosen} task={chosen.task} close={() => setChosen(null)} />}
      {isNew && <NewTask close={() => setNew(false)} />}
    </section>
  );
}

function Board({ placed, choose }: { placed: Placed[]; choose: (one: Placed) => void }) {
  const text = useText();
  return (
    <div className="grid gap-5 @3xl:grid-cols-4">
      {ORDER.map((status) => {
        const group = placed.filter(({ task }) => task.status === status);
        return (
          <section key={status} aria-label={text.work[status]} className={group.length === 0 ? "@max-3xl:hidden" : ""}>
            <h2 className={`pb-1.5 text-[13px] font-semibold ${group.length === 0 ? "text-faint" : COLOURS[status]}`}>
              {text.work[status]} <span className="font-normal tabular-nums">{group.length}</span>
            </h2>
            {group.length === 0 && (
              <div aria-hidden="true" className="h-16 rounded-md border border-dashed border-line" />
            )}
            <ul className="flex flex-col gap-2">
              {group.map((one) => (
                <li key={`${one.workspaceId} ${one.task.file ?? one.task.id}`}>
                  <Card placed={one} choose={() => choose(one)} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

function Card({ placed: { task, workspace }, choose }: { placed: Placed; choose: () => void }) {
  const why = task.problem ?? task.error;
  return (
    <button
      type="button"
      onClick={choose}
      className="flex min-h-11 w-full flex-col gap-0.5 rounded-md border border-line bg-surface px-3.5 py-2.5 text-left hover:bg-hover"
    >
      <span dir="auto" className="text-[14px] leading-snug [overflow-wrap:anywhere]">
        <Plain text={task.title} />
      </span>
      <span dir="auto" className="text-[12.5px] text-faint">
        <Plain text={workspace.name} />
      </span>
      {why && (
        <span dir="auto" className="text-[12.5px] text-red [overflow-wrap:anywhere]">
          <Plain text={why} />
        </span>
      )}
    </button>
  );
}
