/** Rows that say how things went: errors, stops, and remarks of Estelle. */
import { CircleAlert, CircleStop, Pause, Play, Scissors } from "lucide-react";
import type { ReactNode } from "react";
import type { Catalogue } from "@/i18n";
import type { AbortedEntry, ErrorEntry, RemarkEntry } from "@/model/entries";
import { useText } from "@/store/text";
import { Plain } from "@/ui/plain";

export function ErrorRow({ entry }: { entry: ErrorEntry }) {
  const text = useText();
  return (
    <div role="alert" className="flex gap-3 rounded-md border border-red/40 bg-red-soft px-4 py-3 text-[14px]">
      <CircleAlert size={17} className="mt-0.5 shrink-0 text-red" />
      <div className="min-w-0">
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          <Plain text={entry.text} />
          {entry.exitCode !== undefined && <span className="text-muted"> ({text.talk.exitCode(entry.exitCode)})</span>}
        </p>
        <p className="mt-1 text-[13px] text-muted">{text.talk.errorHelp}</p>
      </div>
    </div>
  );
}

export function AbortedRow({ entry }: { entry: AbortedEntry }) {
  const text = useText();
  return (
    <Line icon={<CircleStop size={14} />}>{entry.reason === "user" ? text.talk.aborted : text.talk.abortedEnded}</Line>
  );
}

export function RemarkRow({ entry }: { entry: RemarkEntry }) {
  const text = useText();
  switch (entry.subtype) {
    case "divider":
      return <Divider>{entry.text || text.talk.divider}</Divider>;
    case "divider_lost":
      return <Divider>{text.talk.dividerLost}</Divider>;
    case "rewound":
      return <Divider>{text.talk.rewound}</Divider>;
    case "damage":
      return <Line icon={<CircleAlert size={14} className="text-amber" />}>{text.talk.damage(entry.text)}</Line>;
    case "resumed":
      return <Line icon={<Play size={14} />}>{text.talk.resumed}</Line>;
    case "resumed_fresh":
      return <Line icon={<Scissors size={14} className="text-amber" />}>{text.talk.resumedFresh}</Line>;
    case "cancelled":
      return <Line icon={null}>{text.talk.cancelled}</Line>;
    case "paused_idle_timeout":
    case "paused_manual":
    case "paused_server_shutdown":
      return <Line icon={<Pause size={14} />}>{pausedWords(text, entry.subtype)}</Line>;
    default: {
      const status = /^task_(.+)$/.exec(entry.subtype)?.[1];
      const words = status ? `${text.talk.taskEnded(taskWords(text, status))}: ${entry.text}` : entry.text;
      return (
        <Line icon={null}>
          <Plain text={words} />
        </Line>
      );
    }
  }
}

export function taskWords(text: Catalogue, status: string): string {
  switch (status) {
    case "completed":
      return text.tool.taskDone;
    case "failed":
      return text.tool.taskFailed;
    case "stopped":
      return text.tool.taskStopped;
    default:
      return text.tool.taskRunning;
  }
}

function pausedWords(text: Catalogue, subtype: string): string {
  if (subtype === "paused_manual") return text.state.pausedManual;
  return subtype === "paused_server_shutdown" ? text.state.pausedShutdown : text.talk.paused;
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <p className="flex items-center gap-2 text-[13px] text-muted">
      {icon}
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}

function Divider({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-center gap-3 py-2 text-[12.5px] text-faint">
      <span className="h-px flex-1 bg-line" />
      {children}
      <span className="h-px flex-1 bg-line" />
    </p>
  );
}
