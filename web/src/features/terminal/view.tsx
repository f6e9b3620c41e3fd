/** One terminal: its screen, who else decides its size, how it ended, and the ways out of it. */
import { useCallback, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { EmptyState } from "@/ui/states";
import { TerminalHead } from "./head";
import { KeyBar } from "./key-bar";
import { type Terminals, useTerminal } from "./use-terminal";
import { stateColour, stateWords } from "./words";

export interface TerminalScreenProps {
  deviceId: number;
  terminalId: string;
}

export function TerminalScreen({ deviceId, terminalId }: TerminalScreenProps) {
  const text = useText();
  const [, go] = useLocation();
  const mayUse = useRight("terminal");
  const isOnline = useApp((app) => app.world.fleet.some((one) => one.deviceId === deviceId && one.isOnline));
  const root = useRef<HTMLDivElement>(null);
  const wayOut = useRef<HTMLButtonElement>(null);
  const leave = useCallback(() => wayOut.current?.focus(), []);
  const terminal = useTerminal({ root, deviceId, terminalId, isOnline: isOnline && mayUse, leave });
  const [isSpoken, setSpoken] = useState(false);
  if (!mayUse) {
    return (
      <EmptyState title={text.terminal.noRight} help={text.terminal.noRightHelp}>
        <Button onClick={() => go("/list")}>{text.nav.conversations}</Button>
      </EmptyState>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <TerminalHead
        wayOut={wayOut}
        deviceId={deviceId}
        terminalId={terminalId}
        known={terminal.known}
        isOver={terminal.ending !== null}
        isSpoken={isSpoken}
        setSpoken={(next) => {
          setSpoken(next);
          terminal.setSpoken(next);
        }}
      />
      <Standing isOnline={isOnline} terminal={terminal} />
      <div className="min-h-0 flex-1 overflow-auto bg-code p-2">
        <div ref={root} className="h-full" />
      </div>
      <div className="safe-bottom bg-surface">
        <KeyBar
          isControl={terminal.isControl}
          setControl={terminal.setControl}
          press={terminal.press}
          paste={terminal.paste}
        />
      </div>
    </div>
  );
}

/** How the terminal stands, if there is more to say than that it runs. */
function Standing({ isOnline, terminal }: { isOnline: boolean; terminal: Terminals }) {
  const text = useText();
  const { ending, refusal, otherSize } = terminal;
  if (!isOnline) return <Line colour="text-amber">{text.terminal.offline}</Line>;
  if (refusal) return <Line colour="text-red">{refusalText(text, refusal)}</Line>;
  if (ending) return <Line colour={stateColour(ending)}>{stateWords(text, ending)}</Line>;
  if (!terminal.known) return <Line colour="text-muted">{text.terminal.attaching}</Line>;
  if (!otherSize) return null;
  return (
    <Line colour="text-muted">
      <span className="min-w-0 flex-1">{text.terminal.otherSize(otherSize.cols, otherSize.rows)}</span>
      <Button onClick={terminal.fit}>{text.terminal.fit}</Button>
    </Line>
  );
}

function Line({ colour, children }: { colour: string; children: React.ReactNode }) {
  return (
    <div
      role="status"
      className={`flex shrink-0 items-center justify-between gap-3 border-b border-line bg-surface px-4 py-2 text-[13.5px] ${colour}`}
    >
      {children}
    </div>
  );
}
