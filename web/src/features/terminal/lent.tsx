/** Above the composer: says that the conversation is in a terminal, where it is, and that the chat has to wait. */
import { SquareTerminal } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import type { Terminal } from "@/gen";
import type { Place } from "@/model/fleet";
import { useRight } from "@/store/rights";
import { listTerminals } from "@/store/terminal-acts";
import { useText } from "@/store/text";
import { terminalPath } from "./words";

export function Lent({ place: { machine, conversation } }: { place: Place }) {
  const text = useText();
  const mayUse = useRight("terminal");
  const [holder, setHolder] = useState<Terminal | null>(null);
  const { deviceId, isOnline } = machine;
  const { conversationId, status } = conversation;
  // What happens in the conversation is a reason to look again: it comes back when the terminal ends.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is such a reason.
  useEffect(() => {
    if (!mayUse || !isOnline) return;
    let isCurrent = true;
    const holds = (one: Terminal) => one.conversationId === conversationId && one.state === "running";
    listTerminals(deviceId).then(
      (all) => isCurrent && setHolder(all.find(holds) ?? null),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [mayUse, isOnline, deviceId, conversationId, status]);
  if (!holder) return null;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-surface px-4 py-2 text-[13.5px]"
    >
      <SquareTerminal size={17} className="text-blue" />
      <span className="min-w-0 flex-1">{text.terminal.lent}</span>
      <Link
        href={terminalPath(deviceId, holder.terminalId)}
        className="flex min-h-11 items-center rounded-md px-3 font-medium text-accent hover:bg-hover lg:min-h-9"
      >
        {text.terminal.goThere}
      </Link>
    </div>
  );
}
