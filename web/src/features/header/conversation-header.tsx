/** The head of a conversation: its name and place, how it stands and why, and what can be done with it. */
import { ArrowLeft, Cpu, Inbox, PanelRight, Shield } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { PermissionMode } from "@/gen";
import { folderOf, type Place } from "@/model/fleet";
import { setMode, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { PANEL_BUTTON, togglePanel, usePanelOpen } from "@/store/panel";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { Plain } from "@/ui/plain";
import { Actions } from "./actions";
import { ModelDialog } from "./model";
import { Standing } from "./standing";

const MODES: PermissionMode[] = ["default", "acceptEdits", "plan", "bypassPermissions"];

export function ConversationHeader({ place }: { place: Place }) {
  const text = useText();
  const [, go] = useLocation();
  const { conversation, workspace, machine } = place;
  return (
    <header className="@container shrink-0 border-b border-line bg-bg">
      <div className="flex items-center gap-1 py-1.5 pr-2 pl-1 md:pl-5">
        <IconButton label={text.nav.back} onClick={() => go("/list")} className="md:hidden">
          <ArrowLeft size={20} />
        </IconButton>
        <div className="min-w-0 flex-1 py-0.5">
          <h1 className="truncate text-[15px] font-semibold leading-snug">
            <Plain text={conversation.name} />
          </h1>
          <div className="flex min-w-0 items-center gap-1.5 text-[12.5px] leading-snug text-muted">
            <Standing place={place} />
            <span className="hidden min-w-0 truncate text-faint @xl:inline" title={folderOf(place)}>
              · {workspace.name}
              {conversation.branch && ` · ${conversation.branch}`} · {machine.icon} {machine.name}
            </span>
          </div>
        </div>
        <ToInbox conversationId={conversation.conversationId} />
        <Mode place={place} />
        <Model place={place} />
        <PanelButton />
        <Actions place={place} />
      </div>
    </header>
  );
}

/** Opens what can be looked at beside the conversation; a phone has its views for that. */
function PanelButton() {
  const text = useText();
  const isOpen = usePanelOpen();
  return (
    <IconButton
      id={PANEL_BUTTON}
      label={`${text.panel.toggle} (Alt P)`}
      aria-expanded={isOpen}
      onClick={togglePanel}
      className="max-md:hidden aria-expanded:bg-accent-soft aria-expanded:text-ink"
    >
      <PanelRight size={18} />
    </IconButton>
  );
}

/** What waits elsewhere, one tap away also on a phone, where a conversation has the whole screen. */
function ToInbox({ conversationId }: { conversationId: string }) {
  const text = useText();
  const waiting = useApp((app) => app.world.decisions.filter((one) => one.conversationId !== conversationId).length);
  return (
    <Link
      href="/inbox"
      aria-label={waiting > 0 ? `${text.nav.inbox}: ${waiting}` : text.nav.inbox}
      className={`relative flex size-11 shrink-0 items-center justify-center rounded-md hover:bg-hover md:hidden ${waiting > 0 ? "text-amber" : "text-muted"}`}
    >
      <Inbox size={19} />
      {waiting > 0 && (
        <span className="absolute top-1 right-0.5 rounded-full bg-amber-fill px-1.5 font-semibold text-[11.5px] text-amber-ink leading-[17px]">
          {waiting}
        </span>
      )}
    </Link>
  );
}

/** How permissions are judged here, with plain words on what each mode allows. */
function Mode({ place }: { place: Place }) {
  const text = useText();
  const isAdmin = useRight("admin");
  const mode = place.conversation.permissionMode ?? "default";
  const choose = (one: PermissionMode) => setMode(place, one).catch((error: unknown) => tell(errorText(text, error)));
  return (
    <Menu
      label={text.menu.mode}
      note={isAdmin ? undefined : text.menu.noRight}
      items={MODES.map((one) => ({
        label: text.mode[one],
        help: text.mode[`${one}Help`],
        isChosen: one === mode,
        isDanger: one === "bypassPermissions",
        isDisabled: !isAdmin,
        act: () => void choose(one),
      }))}
      button={(props) => (
        <button
          type="button"
          aria-label={`${text.menu.mode}: ${text.mode[mode]}`}
          className={`flex min-h-11 min-w-11 items-center justify-center gap-1.5 rounded-md px-2.5 text-[13px] hover:bg-hover lg:min-h-9 ${mode === "bypassPermissions" ? "text-red" : "text-muted"}`}
          {...props}
        >
          <Shield size={15} />
          <span className={mode === "default" ? "hidden @xl:inline" : "max-w-24 truncate @xl:max-w-none"}>
            {text.mode[mode]}
          </span>
        </button>
      )}
    />
  );
}

function Model({ place }: { place: Place }) {
  const text = useText();
  const [isOpen, setOpen] = useState(false);
  const model = place.conversation.model ?? text.menu.modelDefault;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`${text.menu.model}: ${model}`}
        onClick={() => setOpen(true)}
        className="hidden min-h-11 items-center gap-1.5 rounded-md px-2.5 text-[13px] text-muted hover:bg-hover @xl:flex lg:min-h-9"
      >
        <Cpu size={15} />
        {model}
      </button>
      {isOpen && <ModelDialog place={place} close={() => setOpen(false)} />}
    </>
  );
}
