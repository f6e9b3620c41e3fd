/** The worker of a workspace: what it does and why it rests, with the hand that starts and stops it. */
import { ChevronDown, Eye, Play, Square } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { WorkerStatus, Workspace } from "@/gen";
import type { Catalogue } from "@/i18n";
import type { Formats } from "@/i18n/format";
import { useRight } from "@/store/rights";
import { startWorker, stopWorker, type TaskPlace } from "@/store/task-acts";
import { useFormats, useText } from "@/store/text";
import { Button, IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { MachineWords } from "@/ui/machine-words";
import { Menu } from "@/ui/menu";
import { useOnce } from "@/ui/once";
import { Plain } from "@/ui/plain";

export interface WorkerProps {
  place: TaskPlace;
  workspace: Workspace;
  isOnline: boolean;
}

export function Worker({ place, workspace, isOnline }: WorkerProps) {
  const text = useText();
  const formats = useFormats();
  const mayWrite = useRight("prompt");
  const { isBusy, once } = useOnce();
  const [error, setError] = useState<string | null>(null);
  const { workerStatus: worker, name, tasks } = workspace;
  const isOn = worker.on ?? worker.running;
  const pending = tasks.filter((task) => task.status === "pending" && task.problem === undefined).length;
  const act = (work: () => Promise<void>) =>
    once(async () => {
      setError(null);
      try {
        await work();
      } catch (failure) {
        setError(errorText(text, failure));
      }
    });
  const canAct = mayWrite && isOnline && !isBusy;
  return (
    <section
      aria-label={`${text.worker.title}: ${name}`}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-line bg-surface py-2 pr-2 pl-3.5"
    >
      <div className="min-w-0 flex-1 basis-64">
        <p dir="auto" className="truncate text-[14px]">
          <span className="text-muted">{text.worker.title} · </span>
          <Plain text={name} />
        </p>
        <p role="status" dir="auto" className={`text-[13px] [overflow-wrap:anywhere] ${colourOf(worker, isOn)}`}>
          <Plain text={words(text, formats, worker, isOn, pending)} />
          {worker.rest && <MachineWords words={worker.rest.message} />}
        </p>
        {error && (
          <p role="alert" className="text-[13px] text-red">
            {error}
          </p>
        )}
      </div>
      <div className="ml-auto flex flex-wrap items-center justify-end gap-2">
        {isOn && worker.conversationId && (
          <Link
            href={`/c/${encodeURIComponent(worker.conversationId)}`}
            className="flex min-h-11 items-center gap-2 rounded-md px-3 text-[14px] text-muted hover:bg-hover lg:min-h-9"
          >
            <Eye size={16} /> {text.worker.watch}
          </Link>
        )}
        {(!isOn || worker.rest) && (
          <Button
            kind={isOn ? "plain" : "main"}
            disabled={!canAct || (!isOn && pending === 0)}
            onClick={() => act(() => startWorker(place))}
          >
            <Play size={15} /> {isOn ? text.worker.goOn : text.worker.start}
          </Button>
        )}
        {!isOn && <Where canAct={canAct && pending > 0} start={(apart) => act(() => startWorker(place, apart))} />}
        {isOn && <Stop canAct={canAct} stop={(afterTask) => act(() => stopWorker(place, afterTask))} />}
      </div>
    </section>
  );
}

/** Starts it with a choice of where tasks are worked on, which counts from then on. */
function Where({ canAct, start }: { canAct: boolean; start: (apart: boolean) => void }) {
  const text = useText();
  return (
    <Menu
      label={text.worker.where}
      items={[
        { label: text.worker.apart, help: text.worker.apartHelp, act: () => start(true) },
        { label: text.worker.together, help: text.worker.togetherHelp, act: () => start(false) },
      ]}
      button={(props) => (
        <IconButton label={text.worker.where} disabled={!canAct} {...props}>
          <ChevronDown size={16} />
        </IconButton>
      )}
    />
  );
}

function Stop({ canAct, stop }: { canAct: boolean; stop: (afterTask: boolean) => void }) {
  const text = useText();
  return (
    <Menu
      label={text.worker.stopMenu}
      items={[
        { label: text.worker.stopAfter, act: () => stop(true) },
        { label: text.worker.stop, help: text.worker.stopHelp, isDanger: true, act: () => stop(false) },
      ]}
      button={(props) => (
        <Button disabled={!canAct} {...props}>
          <Square size={14} /> {text.worker.stopMenu}
        </Button>
      )}
    />
  );
}

function colourOf(worker: WorkerStatus, isOn: boolean): string {
  if (worker.rest) return "text-amber";
  return isOn ? "text-blue" : "text-faint";
}

function words(text: Catalogue, formats: Formats, worker: WorkerStatus, isOn: boolean, pending: number): string {
  const waits = pending > 0 ? ` · ${text.worker.waits(pending)}` : "";
  if (worker.rest) {
    const until = worker.rest.until ? ` ${text.worker.until(formats.moment(Date.parse(worker.rest.until)))}` : "";
    const { cause, message } = worker.rest;
    return `${text.worker.rests(text.worker.rest[cause] ?? message)}${until}`;
  }
  if (isOn && worker.currentTask) return `${text.worker.works(worker.currentTask.title)}${waits}`;
  return `${isOn ? text.worker.on : text.worker.off}${waits}`;
}
