/** What was allowed for a conversation, since when and by whom; and taking it back. */
import { Undo2 } from "lucide-react";
import { Link } from "wouter";
import type { GrantedTool } from "@/gen";
import type { Machine } from "@/model/fleet";
import { useDeviceName } from "@/store/device-name";
import { useFormats, useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { Plain } from "@/ui/plain";

interface GrantedProps {
  granted: readonly GrantedTool[];
  machine: Machine;
  /** Absent if this device may not decide. */
  revoke?: (granted: GrantedTool) => void;
}

export function Granted({ granted, machine, revoke }: GrantedProps) {
  const text = useText();
  if (granted.length === 0) return null;
  return (
    <section aria-label={text.rules.granted} className="flex flex-col gap-2">
      <h3 className="text-[13.5px] font-medium">{text.rules.granted}</h3>
      <p className="text-[13px] text-muted">{text.rules.grantedHelp}</p>
      <ul className="overflow-hidden rounded-lg border border-line">
        {granted.map((one) => (
          <GrantedRow
            key={`${one.conversationId} ${one.toolName}`}
            one={one}
            machine={machine}
            revoke={revoke && (() => revoke(one))}
          />
        ))}
      </ul>
    </section>
  );
}

function GrantedRow({ one, machine, revoke }: { one: GrantedTool; machine: Machine; revoke?: () => void }) {
  const text = useText();
  const formats = useFormats();
  const conversations = machine.workspaces.flatMap((workspace) => workspace.conversations);
  const name = conversations.find((talk) => talk.conversationId === one.conversationId)?.name ?? one.conversationId;
  const device = useDeviceName(one);
  return (
    <li className="flex min-h-11 items-center gap-3 border-b border-line bg-surface py-1.5 pr-1 pl-3 text-[14px] last:border-0">
      <span className="min-w-0 flex-1">
        <code className="block font-mono text-[13px] [overflow-wrap:anywhere]">
          <Plain text={one.toolName} />
        </code>
        <span className="block text-[12.5px] text-faint">
          <Link href={`/c/${encodeURIComponent(one.conversationId)}`} className="underline">
            <Plain text={name} />
          </Link>
          {` · ${text.settings.since(formats.moment(one.since))}`}
          {device !== undefined && ` · ${text.rules.by(device)}`}
        </span>
      </span>
      {revoke && (
        <IconButton label={text.rules.revoke(one.toolName, name)} onClick={revoke}>
          <Undo2 size={15} />
        </IconButton>
      )}
    </li>
  );
}
