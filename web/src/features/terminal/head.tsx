/** The head of a terminal: what runs where, and the ways out: to the list, to the chat, to its end. */
import { ArrowLeft, EllipsisVertical, MessageSquare, Speech, X } from "lucide-react";
import { type RefObject, useState } from "react";
import { useLocation } from "wouter";
import type { Terminal } from "@/gen";
import { tell } from "@/store/acts";
import { closeTerminal } from "@/store/terminal-acts";
import { useText } from "@/store/text";
import { Confirm } from "@/ui/ask";
import { Button, IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { Plain } from "@/ui/plain";
import { kindWords } from "./words";

export interface TerminalHeadProps {
  wayOut: RefObject<HTMLButtonElement | null>;
  deviceId: number;
  terminalId: string;
  known: Terminal | null;
  isOver: boolean;
  isSpoken: boolean;
  setSpoken: (isSpoken: boolean) => void;
}

export function TerminalHead(props: TerminalHeadProps) {
  const { wayOut, known, isSpoken, setSpoken } = props;
  const text = useText();
  const [, go] = useLocation();
  return (
    <header className="@container shrink-0 border-b border-line">
      <div className="flex items-center gap-1 py-1.5 pr-2 pl-1.5">
        <IconButton label={text.nav.back} ref={wayOut} onClick={() => go("/terminals")}>
          <ArrowLeft size={19} />
        </IconButton>
        <div className="min-w-0 flex-1">
          <h1 className="truncate text-[15px] font-semibold leading-snug">
            {known ? kindWords(text, known.kind) : text.terminal.title}
          </h1>
          <p dir="ltr" className="truncate font-mono text-[12px] text-faint">
            <Plain text={known?.workingDir ?? ""} />
          </p>
        </div>
        <span className="hidden shrink-0 text-[12.5px] text-faint pointer-fine:@md:inline">{text.terminal.leave}</span>
        <Ways {...props} />
        <Menu
          label={text.menu.more}
          items={[
            {
              label: text.terminal.spoken,
              icon: <Speech size={15} />,
              isChosen: isSpoken,
              act: () => setSpoken(!isSpoken),
            },
          ]}
          button={(button) => (
            <IconButton label={text.menu.more} {...button}>
              <EllipsisVertical size={18} />
            </IconButton>
          )}
        />
      </div>
    </header>
  );
}

/** Ending it: with a question while it runs, and to the chat if it holds a conversation. */
function Ways({ deviceId, terminalId, known, isOver }: TerminalHeadProps) {
  const text = useText();
  const [, go] = useLocation();
  const [isAsking, setAsking] = useState(false);
  if (!known) return null;
  const chat = known.kind === "agent" ? known.conversationId : undefined;
  const next = chat ? `/c/${encodeURIComponent(chat)}` : "/terminals";
  const end = () =>
    closeTerminal(deviceId, terminalId).then(
      () => go(next),
      (failure: unknown) => tell(errorText(text, failure)),
    );
  const act = () => (isOver ? go(next) : setAsking(true));
  return (
    <>
      {chat ? (
        <Button onClick={act} aria-label={text.terminal.toChat}>
          <MessageSquare size={16} /> <span className="@max-xl:hidden">{text.terminal.toChat}</span>
        </Button>
      ) : (
        <Button kind="quiet" onClick={act} aria-label={text.terminal.end}>
          <X size={16} /> <span className="@max-xl:hidden">{text.terminal.end}</span>
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={chat ? text.terminal.toChat : text.terminal.end}
          question={chat ? text.terminal.toChatSure : text.terminal.endSure(known.workingDir)}
          yes={chat ? text.terminal.toChatYes : text.terminal.endYes}
          close={() => setAsking(false)}
          act={end}
        />
      )}
    </>
  );
}
