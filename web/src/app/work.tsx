/** Tasks of all workspaces, by how far they are. */
import { ListTodo } from "lucide-react";
import type { TaskStatus } from "@/gen";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState } from "@/ui/states";

const ORDER: TaskStatus[] = ["running", "pending", "failed", "done"];
const COLOURS: Record<TaskStatus, string> = {
  running: "text-blue",
  pending: "text-muted",
  failed: "text-red",
  done: "text-green",
};

export function Work() {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const tasks = fleet.flatMap((machine) =>
    machine.workspaces.flatMap((workspace) => workspace.tasks.map((task) => ({ workspace, task }))),
  );
  if (tasks.length === 0)
    return <EmptyState icon={<ListTodo size={30} />} title={text.work.none} help={text.work.noneHelp} />;
  return (
    <Page title={text.work.title}>
      {ORDER.map((status) => {
        const group = tasks.filter(({ task }) => task.status === status);
        if (group.length === 0) return null;
        return (
          <section key={status}>
            <h2 className={`pb-1.5 text-[13px] font-semibold ${COLOURS[status]}`}>{text.work[status]}</h2>
            <ul className="overflow-hidden rounded-lg border border-line">
              {group.map(({ workspace, task }) => (
                <li
                  key={workspace.workspaceId + task.id}
                  className="border-b border-line bg-surface px-4 py-2.5 text-[14px] last:border-0"
                >
                  <Plain text={task.title} />
                  <span className="ml-2 text-[13px] text-faint">{workspace.name}</span>
                  {task.error && <p className="text-[13px] text-red">{task.error}</p>}
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </Page>
  );
}
