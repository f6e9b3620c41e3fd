/** Where a message is written: drafts that stay, earlier prompts, and a choice of what to do while Claude works. */
import { ArrowUp, ChevronUp, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { OnBusy } from "@/gen";
import { type Catalogue, en } from "@/i18n";
import type { Place } from "@/model/fleet";
import { titleOf } from "@/model/title";
import { control, renameConversation, sendMessage, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { draftOf, followDraft, saveDraft } from "@/store/drafts";
import { useRight } from "@/store/rights";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { Commands } from "./command-list";
import { fitting, isWhole, useCommands } from "./commands";
import { PausedNote } from "./paused";
import { usePrompts } from "./prompts";

export function Composer({ place }: { place: Place }) {
  const text = useText();
  const id = place.conversation.conversationId;
  const { enterSends, onBusy } = useSettings();
  const [value, setValue] = useState(() => draftOf(id));
  const field = useRef<HTMLTextAreaElement>(null);
  const status = useApp((app) => app.world.transcripts[id]?.status ?? place.conversation.status);
  const mayWrite = useRight("prompt");
  const isBusy = status !== "idle";
  const prompts = usePrompts(id, value);
  const commands = fitting(useCommands(id, place.workspace.workspaceId), value);
  const [chosen, setChosen] = useState(0);
  const at = Math.min(chosen, commands.length - 1);
  const hasText = value.trim() !== "";

  useEffect(() => {
    setValue(draftOf(id));
    return followDraft(id, setValue);
  }, [id]);
  useHeight(field, value);

  const change = (next: string) => {
    setChosen(0);
    setValue(next);
    saveDraft(id, next);
  };
  const send = (how: OnBusy | undefined) => {
    if (!hasText || !mayWrite) return;
    const named = isUnnamed(place, text) ? titleOf(value) : null;
    sendMessage(place, value.trim(), how);
    // A name is a convenience: without it the conversation is as good.
    if (named !== null) void renameConversation(place, named).catch(() => undefined);
    change("");
    prompts.reset();
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (commands.length > 0 && !isWhole(commands, value)) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) setChosen((at + step + commands.length) % commands.length);
      else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) change(`/${commands[at]} `);
      else return;
      event.preventDefault();
      return;
    }
    const wantsSend = event.key === "Enter" && !event.shiftKey && (enterSends || event.ctrlKey || event.metaKey);
    if (wantsSend) {
      event.preventDefault();
      send(isBusy ? onBusy : undefined);
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const earlier = prompts.move(event.key === "ArrowUp" ? "back" : "forward");
      if (earlier === null) return;
      event.preventDefault();
      change(earlier);
    } else if (event.key === "Escape") field.current?.blur();
  };

  const placeholder = !place.machine.isOnline
    ? text.composer.placeholderOffline
    : isBusy
      ? text.composer.placeholderBusy
      : text.composer.placeholder;
  return (
    <div className="mx-auto w-full max-w-[740px] px-2 pt-2 pb-2 lg:px-4 lg:pb-4">
      {commands.length > 0 && !isWhole(commands, value) && (
        <Commands
          commands={commands}
          at={at}
          choose={(one) => {
            change(`/${one} `);
            field.current?.focus();
          }}
        />
      )}
      <PausedNote conversationId={id} />
      <div className="flex items-end gap-1.5 rounded-lg border border-line-strong bg-raised py-1.5 pr-1.5 pl-4 focus-within:border-accent">
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={value}
          disabled={!mayWrite}
          aria-label={text.composer.label}
          aria-controls={commands.length > 0 ? "slash-commands" : undefined}
          placeholder={mayWrite ? placeholder : text.composer.noRight}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKey}
          className="max-h-[40dvh] min-h-11 flex-1 resize-none bg-transparent py-2.5 text-[16px] leading-snug outline-none placeholder:text-faint lg:min-h-10 lg:py-2 lg:text-[15px]"
        />
        {isBusy && <StopButton place={place} />}
        {isBusy && hasText && <BusyChoice send={send} />}
        <button
          type="button"
          aria-label={text.composer.send}
          title={text.composer.send}
          disabled={!hasText || !mayWrite}
          onClick={() => send(isBusy ? onBusy : undefined)}
          className="flex size-11 shrink-0 items-center justify-center rounded-md bg-accent text-accent-ink disabled:bg-hover disabled:text-faint lg:size-10"
        >
          <ArrowUp size={19} strokeWidth={2.4} />
        </button>
      </div>
    </div>
  );
}

/** Whether nobody has said anything here, nor called it anything. */
function isUnnamed({ conversation, machine }: Place, text: Catalogue): boolean {
  const transcript = useApp.getState().world.transcripts[conversation.conversationId];
  const isBlank = transcript?.load === "ready" && transcript.entries.top.length === 0 && !transcript.hasMore;
  const isUsual = conversation.name === text.create.defaultName || conversation.name === en.create.defaultName;
  return isBlank && isUsual && machine.isOnline;
}

function StopButton({ place }: { place: Place }) {
  const text = useText();
  const [isStopping, setStopping] = useState(false);
  const stop = async () => {
    setStopping(true);
    try {
      await control(place, "stop");
    } catch (error) {
      tell(errorText(text, error));
    } finally {
      setStopping(false);
    }
  };
  return (
    <button
      type="button"
      disabled={isStopping}
      onClick={stop}
      className="flex min-h-11 shrink-0 items-center gap-1.5 rounded-md border border-line-strong px-3 text-[14px] text-ink hover:bg-hover disabled:opacity-60 lg:min-h-10"
    >
      <Square size={13} fill="currentColor" />
      {isStopping ? text.composer.stopping : text.composer.stop}
    </button>
  );
}

function BusyChoice({ send }: { send: (how: OnBusy) => void }) {
  const text = useText();
  const onBusy = useSettings((settings) => settings.onBusy);
  const choices: OnBusy[] = ["inject", "queue", "interrupt"];
  return (
    <Menu
      label={text.composer.busyChoice}
      side="up"
      items={choices.map((how) => ({
        label: text.composer[how],
        help: text.composer[`${how}Help`],
        isChosen: how === onBusy,
        act: () => {
          changeSettings({ onBusy: how === "interrupt" ? onBusy : how });
          send(how);
        },
      }))}
      button={(props) => (
        <button
          type="button"
          aria-label={text.composer.busyChoice}
          title={text.composer.busyChoice}
          className="flex min-h-11 items-center gap-1 rounded-md px-2 text-[13px] text-muted hover:bg-hover lg:min-h-10"
          {...props}
        >
          <span className="hidden sm:inline">{text.composer[onBusy]}</span>
          <ChevronUp size={15} />
        </button>
      )}
    />
  );
}

/** The field is as high as its text, up to the limit of its class. */
function useHeight(field: React.RefObject<HTMLTextAreaElement | null>, value: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    // Without text the placeholder would count, which may be longer than a line.
    element.style.height = "auto";
    if (value !== "") element.style.height = `${element.scrollHeight}px`;
  }, [field, value]);
}
