/** What was decided lately: what it was about, how it was answered, by whom and when. */
import { Check, CircleSlash, X } from "lucide-react";
import { Link } from "wouter";
import type { Decided } from "@/model/decided";
import { find } from "@/model/fleet";
import { toolTarget, toolView } from "@/model/tools";
import { useApp } from "@/store/app";
import { useDeviceName } from "@/store/device-name";
import { useFormats, useText } from "@/store/text";
import { answerWords, toolLabel } from "@/ui/label";
import { Plain } from "@/ui/plain";

export function RecentlyDecided() {
  const text = useText();
  const decided = useApp((app) => app.world.decided);
  if (decided.length === 0) return null;
  return (
    <section aria-label={text.inbox.decided}>
      <h2 className="px-1 pb-1.5 text-[13px] font-semibold text-muted">{text.inbox.decided}</h2>
      <ul className="overflow-hidden rounded-lg border border-line">
        {decided.map((one) => (
          <Row key={one.decision.conversationId + one.decision.toolUseId} decided={one} />
        ))}
      </ul>
    </section>
  );
}

function Row({ decided }: { decided: Decided }) {
  const text = useText();
  const formats = useFormats();
  const { decision, answer, isVoid, at } = decided;
  const name = useDeviceName(decided);
  const place = useApp((app) => find(app.world.fleet, decision.conversationId)?.conversation.name);
  const Icon = isVoid ? CircleSlash : answer === "deny" ? X : Check;
  const colour = isVoid ? "text-faint" : answer === "deny" ? "text-red" : "text-green";
  const target = toolTarget(toolView(decision.toolName, decision.input)) || decision.questions[0]?.question || "";
  return (
    <li className="border-b border-line last:border-0">
      <Link
        href={`/c/${encodeURIComponent(decision.conversationId)}`}
        className="flex min-h-12 items-start gap-2.5 bg-surface px-3 py-2 hover:bg-hover"
      >
        <Icon size={16} className={`mt-0.5 shrink-0 ${colour}`} />
        <span className="min-w-0 flex-1 text-[14px] leading-snug">
          <span className="block truncate">
            <span className="font-medium">{toolLabel(text, decision.toolName)}</span>{" "}
            <span className="font-mono text-[12.5px] text-muted">
              <Plain text={target.split("\n")[0] ?? ""} />
            </span>
          </span>
          <span className="block truncate text-[12.5px] text-faint">
            {isVoid ? text.inbox.void : answerWords(text, answer, name ?? text.tool.byRule)} · {formats.clock(at)}
            {place !== undefined && ` · ${place}`}
          </span>
        </span>
      </Link>
    </li>
  );
}
