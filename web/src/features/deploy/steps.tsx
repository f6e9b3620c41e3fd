/** The steps of a deploy, each with how far it is, in words and not by colour alone. */
import { Check, Circle, LoaderCircle, X } from "lucide-react";
import type { ReactNode } from "react";
import type { DeployTask, DeployTasks } from "@/gen";
import { stepsOf } from "@/model/deploy";
import { useText } from "@/store/text";

const ICONS: Record<DeployTask, ReactNode> = {
  waiting: <Circle size={15} />,
  running: <LoaderCircle size={15} className="animate-spin motion-reduce:animate-none" />,
  done: <Check size={15} />,
  error: <X size={15} />,
};
const COLOURS: Record<DeployTask, string> = {
  waiting: "text-faint",
  running: "text-blue",
  done: "text-green",
  error: "text-red",
};

export function Steps({ tasks }: { tasks: DeployTasks }) {
  const text = useText();
  return (
    <section>
      <h2 className="pb-2 text-[14px] font-semibold">{text.deploy.steps}</h2>
      <ol className="grid grid-cols-2 gap-1.5 sm:grid-cols-3">
        {stepsOf(tasks).map(({ step, state }) => (
          <li
            key={step}
            className="flex min-h-10 items-center gap-2.5 rounded-md border border-line bg-surface px-3 text-[14px]"
          >
            <span aria-hidden="true" className={COLOURS[state]}>
              {ICONS[state]}
            </span>
            <span className="flex-1">{text.deploy.step[step]}</span>
            <span className={`text-[12.5px] ${COLOURS[state]}`}>{text.deploy.task[state]}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
