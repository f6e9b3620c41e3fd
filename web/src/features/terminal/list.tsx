/** The terminals of all machines: what runs in them, where and since when; opening and ending them. */
import { Bot, SquareTerminal, X } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { Terminal } from "@/gen";
import { find, type Machine } from "@/model/fleet";
import { tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useSlowNow } from "@/store/clock";
import { useRight } from "@/store/rights";
import { closeTerminal, listTerminals } from "@/store/terminal-acts";
import { useFormats, useText } from "@/store/text";
import { Confirm } from "@/ui/ask";
import { MachineAway } from "@/ui/away";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { useLoaded } from "@/ui/loaded";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { WorkTabs } from "@/ui/work-tabs";
import { NewShell } from "./new-shell";
import { kindWords, stateColour, stateWords, terminalPath } from "./words";

/** How often the list is asked for while somebody looks at it. */
const AGAIN_MS = 4_000;

export function TerminalsScreen() {
  const text = useText();
  const mayUse = useRight("terminal");
  const fleet = useApp((app) => app.world.fleet);
  const online = fleet.filter((machine) => machine.isOnline);
  return (
    <Page title={text.terminal.title}>
      <WorkTabs />
      {!mayUse && (
        <EmptyState
          icon={<SquareTerminal size={30} />}
          title={text.terminal.noRight}
          help={text.terminal.noRightHelp}
        />
      )}
      {mayUse && <p className="text-[14px] text-muted">{text.terminal.help}</p>}
      {mayUse && online.length === 0 && <MachineAway help={text.terminal.offline} />}
      {mayUse && online.map((machine) => <MachineTerminals key={machine.deviceId} machine={machine} />)}
    </Page>
  );
}

function MachineTerminals({ machine }: { machine: Machine }) {
  const text = useText();
  const { deviceId } = machine;
  const load = useCallback(() => listTerminals(deviceId), [deviceId]);
  const { value, error, isLoading, again } = useLoaded(load);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [again]);
  return (
    <section aria-label={machine.name} className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-[14px] font-semibold">
          {machine.icon} <Plain text={machine.name} />
        </h2>
        <NewShell machine={machine} />
      </div>
      {!value && isLoading && <Skeleton label={text.tool.loading} rows={2} />}
      {error && (
        <p role="alert" className="text-[13.5px] text-red">
          {error}
        </p>
      )}
      {value?.length === 0 && (
        <div className="rounded-md border border-line bg-surface px-4 py-5 text-center">
          <p className="font-medium">{text.terminal.none}</p>
          <p className="text-[13.5px] text-muted">{text.terminal.noneHelp}</p>
        </div>
      )}
      <ul className="flex flex-col gap-2">
        {value?.toReversed().map((terminal) => (
          <Row key={terminal.terminalId} deviceId={deviceId} terminal={terminal} again={again} />
        ))}
      </ul>
    </section>
  );
}

function Row({ deviceId, terminal, again }: { deviceId: number; terminal: Terminal; again: () => void }) {
  const text = useText();
  const formats = useFormats();
  const now = useSlowNow();
  const [, go] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const fleet = useApp((app) => app.world.fleet);
  const { terminalId, kind, workingDir, state, conversationId } = terminal;
  const lent = conversationId ? find(fleet, conversationId)?.conversation.name : undefined;
  const end = () =>
    closeTerminal(deviceId, terminalId).then(again, (failure: unknown) => tell(errorText(text, failure)));
  return (
    <li className="flex items-center gap-1 rounded-md border border-line bg-surface pr-1 hover:bg-hover">
      <Link
        href={terminalPath(deviceId, terminalId)}
        className="flex min-h-14 min-w-0 flex-1 items-center gap-3 py-2 pl-3.5"
      >
        <span className="text-faint">{kind === "agent" ? <Bot size={19} /> : <SquareTerminal size={19} />}</span>
        <span className="min-w-0 flex-1">
          <span dir="auto" className="block truncate text-[14px]">
            {kindWords(text, kind)}
            {lent && (
              <span className="text-muted">
                {" · "}
                <Plain text={lent} />
              </span>
            )}
          </span>
          <span dir="ltr" className="block truncate font-mono text-[12px] text-faint">
            <Plain text={workingDir} />
          </span>
          <span className="block text-[12.5px]">
            <span className={stateColour(terminal)}>{stateWords(text, terminal)}</span>
            <span className="text-faint"> · {formats.age(terminal.createdAt, now)}</span>
          </span>
        </span>
      </Link>
      <IconButton
        label={`${text.terminal.end}: ${kindWords(text, kind)} ${workingDir}`}
        onClick={() => (state === "running" ? setAsking(true) : end())}
      >
        <X size={17} />
      </IconButton>
      {isAsking && (
        <Confirm
          title={text.terminal.end}
          question={text.terminal.endSure(workingDir)}
          yes={text.terminal.endYes}
          close={() => setAsking(false)}
          act={() => end().finally(() => go("/terminals"))}
        />
      )}
    </li>
  );
}
