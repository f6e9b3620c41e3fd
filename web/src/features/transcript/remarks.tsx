/** Rows that say how things went: errors, stops, and remarks of Estelle. */
import { CircleAlert, CircleStop, Pause, Play, RotateCcw, Scissors, ShieldQuestionMark } from "lucide-react";
import type { ReactNode } from "react";
import type { InterruptedMessage } from "@/gen";
import type { Catalogue } from "@/i18n";
import type { Formats } from "@/i18n/format";
import type { AbortedEntry, ErrorEntry, RemarkEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { useApp } from "@/store/app";
import { putDraft } from "@/store/drafts";
import { useFormats, useText } from "@/store/text";
import { Button } from "@/ui/button";
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
          {entry.apiStatus !== undefined && <span className="text-muted"> ({text.plan.status(entry.apiStatus)})</span>}
        </p>
        <p className="mt-1 text-[13px] text-muted">{text.causeHelp[entry.cause ?? "other"] ?? text.causeHelp.other}</p>
      </div>
    </div>
  );
}

export function AbortedRow({ entry, place }: { entry: AbortedEntry; place: Place }) {
  const text = useText();
  const id = place.conversation.conversationId;
  const messages = entry.messages ?? [];
  return (
    <div className="flex flex-col gap-2">
      <Line icon={<CircleStop size={14} />}>
        {entry.reason === "user" ? text.talk.aborted : text.talk.abortedEnded}
      </Line>
      {messages.length > 0 && (
        <div className="rounded-md border border-line bg-surface px-4 py-2 text-[13.5px]">
          <p className="text-muted">{text.talk.interrupted}</p>
          <ul>
            {messages.map((message, index) => (
              <li key={message.clientMessageId ?? index} className="flex items-center gap-2">
                <span dir="auto" className="line-clamp-2 min-w-0 flex-1 [overflow-wrap:anywhere]">
                  <Plain text={message.content} />
                </span>
                <Button kind="quiet" onClick={() => putDraft(id, wholeMessage(id, message))}>
                  <RotateCcw size={15} /> {text.talk.writeAgain}
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** The whole of a message, where the conversation has it: what tells of its interruption only begins it. */
function wholeMessage(conversationId: string, { clientMessageId, content }: InterruptedMessage): string {
  const entries = useApp.getState().world.transcripts[conversationId]?.entries.top ?? [];
  const said = entries.findLast(
    (entry) => entry.kind === "user" && clientMessageId !== undefined && entry.clientMessageId === clientMessageId,
  );
  return said?.kind === "user" ? said.text : content;
}

export function RemarkRow({ entry }: { entry: RemarkEntry }) {
  const text = useText();
  const formats = useFormats();
  switch (entry.subtype) {
    case "divider":
      return <Divider>{entry.text || text.talk.divider}</Divider>;
    case "divider_lost":
      return <Divider>{text.talk.dividerLost}</Divider>;
    case "rewound":
      return <Divider>{text.talk.rewound}</Divider>;
    case "compact_boundary":
      return <Divider>{text.talk.compacted(compactedFigures(text, formats, entry.text))}</Divider>;
    case "revoked":
      return <Line icon={<ShieldQuestionMark size={14} />}>{text.talk.revoked(entry.text)}</Line>;
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

/** The figures stand in the machine's words, `…, 155000 tokens before, 20000 after`, as far as the CLI told them. */
function compactedFigures(text: Catalogue, formats: Formats, words: string): string {
  const [, before] = /(\d+) tokens before/.exec(words) ?? [];
  const [, after] = /(\d+) after/.exec(words) ?? [];
  if (before === undefined) return "";
  const from = formats.compact(Number(before));
  return after === undefined
    ? text.talk.compactedFrom(from)
    : text.talk.compactedTo(from, formats.compact(Number(after)));
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
