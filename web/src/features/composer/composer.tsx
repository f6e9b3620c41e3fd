/** Where a message is written: drafts that stay, earlier prompts, and a choice of what to do while Claude works. */
import { ArrowUp, ChevronUp, Square } from "lucide-react";
import { type KeyboardEvent, lazy, Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { OnBusy } from "@/gen";
import { type Catalogue, en } from "@/i18n";
import type { Place } from "@/model/fleet";
import { titleOf } from "@/model/title";
import { control, renameConversation, sendMessage, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { draftOf, followDraft, saveDraft } from "@/store/drafts";
import { useUnsure } from "@/store/presence";
import { useRight } from "@/store/rights";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { takeFiles } from "@/store/uploads";
import { takeWriting } from "@/store/writing";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { AttachButton, AttachNews, pasteFiles, useAttached } from "./attach";
import { CHOICES_ID, Choices, choiceId } from "./choice-list";
import { type Choice, useChoices } from "./complete";
import { PausedNote } from "./paused";
import { PlanNote } from "./plan-note";
import { usePrompts } from "./prompts";
import { Queued } from "./queued";

const Attached = lazy(() => import("./attached").then((file) => ({ default: file.Attached })));

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
  const [caret, setCaret] = useState(value.length);
  const [isShut, setShut] = useState(false);
  const offered = useChoices(place, value, caret);
  const choices = isShut ? [] : offered;
  const [chosen, setChosen] = useState(0);
  const at = Math.min(chosen, choices.length - 1);
  const attached = useAttached(id);
  const isWhole = attached.every((one) => one.state === "ready");
  const canSend = mayWrite && isWhole && (value.trim() !== "" || attached.length > 0);

  useEffect(() => {
    setValue(draftOf(id));
    return followDraft(id, setValue);
  }, [id]);
  useHeight(field, value);
  // What was made a moment ago is to be written in.
  useEffect(() => {
    if (mayWrite && takeWriting(id)) field.current?.focus();
  }, [id, mayWrite]);

  const change = (next: string) => {
    setChosen(0);
    setShut(false);
    setValue(next);
    saveDraft(id, next);
  };
  const choose = ({ result }: Choice) => {
    change(result.value);
    setCaret(result.caret);
    // The field has its new text with the next picture.
    requestAnimationFrame(() => field.current?.setSelectionRange(result.caret, result.caret));
    field.current?.focus();
  };
  const send = (how: OnBusy | undefined) => {
    if (!canSend) return;
    const words = value.trim() || text.attach.alone;
    const named = isUnnamed(place, text) ? titleOf(words) : null;
    sendMessage(place, words, how, takeFiles(id));
    // A name is a convenience: without it the conversation is as good.
    if (named !== null) void renameConversation(place, named).catch(() => undefined);
    change("");
    prompts.reset();
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    const choice = choices[at];
    if (choice) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) setChosen((at + step + choices.length) % choices.length);
      else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) choose(choice);
      else if (event.key === "Escape") setShut(true);
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

  const isUnsure = useUnsure();
  const placeholder =
    !place.machine.isOnline && !isUnsure
      ? text.composer.placeholderOffline
      : isBusy
        ? text.composer.placeholderBusy
        : text.composer.placeholder;
  return (
    <div className="mx-auto w-full max-w-[740px] px-2 pt-2 pb-2 lg:px-4 lg:pb-4">
      {choices.length > 0 && <Choices choices={choices} at={at} choose={choose} />}
      <Queued place={place} />
      <PlanNote place={place} />
      <PausedNote place={place} />
      <AttachNews uploads={attached} />
      {attached.length > 0 && (
        <Suspense fallback={null}>
          <Attached place={place} uploads={attached} />
        </Suspense>
      )}
      <div className="flex items-end gap-1.5 rounded-lg border border-line-strong bg-raised p-1.5 focus-within:border-accent">
        <AttachButton place={place} />
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={value}
          disabled={!mayWrite}
          aria-label={text.composer.label}
          aria-controls={choices.length > 0 ? CHOICES_ID : undefined}
          aria-activedescendant={choices.length > 0 ? choiceId(at) : undefined}
          placeholder={mayWrite ? placeholder : text.composer.noRight}
          onChange={(event) => {
            setCaret(event.target.selectionStart);
            change(event.target.value);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKey}
          onPaste={(event) => pasteFiles(place, event)}
          className="max-h-[40dvh] min-h-11 min-w-0 flex-1 resize-none bg-transparent py-2.5 text-[16px] leading-snug outline-none placeholder:text-faint lg:min-h-10 lg:py-2 lg:text-[15px]"
        />
        {isBusy && <StopButton place={place} />}
        {isBusy && canSend && <BusyChoice send={send} />}
        <button
          type="button"
          aria-label={text.composer.send}
          title={text.composer.send}
          disabled={!canSend}
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
