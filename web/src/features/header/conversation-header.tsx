/** The head of a conversation: its name and place, how it stands and why, and what can be done with it. */
import {
  ArrowLeft,
  Bell,
  BellOff,
  EllipsisVertical,
  Eraser,
  FolderOpen,
  Pencil,
  Shield,
  Sparkles,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import type { PermissionMode } from "@/gen";
import type { Place } from "@/model/fleet";
import { control, deleteConversation, setMode, setModel, tell } from "@/store/acts";
import { toggleMuted, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { Plain } from "@/ui/plain";
import { Confirm, Rename } from "./dialogs";
import { Standing } from "./standing";

const MODES: PermissionMode[] = ["default", "acceptEdits", "plan", "bypassPermissions"];
const MODELS = ["opus", "sonnet", "haiku"];

export function ConversationHeader({ place }: { place: Place }) {
  const text = useText();
  const [, go] = useLocation();
  const [dialog, setDialog] = useState<"rename" | "clear" | "remove" | null>(null);
  const { conversation, workspace, machine } = place;
  const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => tell(errorText(text, error)));
  const mode = conversation.permissionMode ?? "default";
  const close = () => setDialog(null);
  const isMuted = useSettings((settings) => settings.muted.includes(conversation.conversationId));
  return (
    <header className="flex shrink-0 items-center gap-1 border-b border-line bg-bg py-1.5 pr-2 pl-1 md:pl-5">
      <IconButton label={text.nav.back} onClick={() => go("/list")} className="md:hidden">
        <ArrowLeft size={20} />
      </IconButton>
      <div className="min-w-0 flex-1 py-0.5">
        <h1 className="truncate text-[15px] font-semibold leading-snug">
          <Plain text={conversation.name} />
        </h1>
        <div className="flex min-w-0 items-center gap-1.5 text-[12.5px] leading-snug text-muted">
          <Standing place={place} />
          <span className="hidden min-w-0 truncate text-faint sm:inline" title={workspace.workingDir}>
            · {workspace.name} · {machine.icon} {machine.name}
          </span>
        </div>
      </div>
      <Menu
        label={text.menu.mode}
        items={MODES.map((one) => ({
          label: text.mode[one],
          help: text.mode[`${one}Help`],
          isChosen: one === mode,
          isDanger: one === "bypassPermissions",
          act: () => void attempt(setMode(place, one)),
        }))}
        button={(props) => (
          <button
            type="button"
            aria-label={`${text.menu.mode}: ${text.mode[mode]}`}
            className={`flex min-h-11 items-center gap-1.5 rounded-md px-2.5 text-[13px] hover:bg-hover lg:min-h-9 ${mode === "bypassPermissions" ? "text-red" : "text-muted"}`}
            {...props}
          >
            <Shield size={15} />
            <span className="hidden sm:inline">{text.mode[mode]}</span>
          </button>
        )}
      />
      <div className="hidden sm:block">
        <Menu
          label={text.menu.model}
          items={[undefined, ...MODELS].map((one) => ({
            label: one ?? text.menu.modelDefault,
            isChosen: one === conversation.model,
            act: () => void attempt(setModel(place, one)),
          }))}
          button={(props) => (
            <button
              type="button"
              aria-label={`${text.menu.model}: ${conversation.model ?? text.menu.modelDefault}`}
              className="flex min-h-11 items-center gap-1.5 rounded-md px-2.5 text-[13px] text-muted hover:bg-hover lg:min-h-9"
              {...props}
            >
              <Sparkles size={15} />
              {conversation.model ?? text.menu.modelDefault}
            </button>
          )}
        />
      </div>
      <Menu
        label={text.menu.more}
        items={[
          { label: text.menu.rename, icon: <Pencil size={15} />, act: () => setDialog("rename") },
          {
            label: text.menu.newSession,
            help: text.menu.newSessionHelp,
            icon: <Sparkles size={15} />,
            act: () => void attempt(control(place, "new_session")),
          },
          {
            label: isMuted ? text.menu.unmute : text.menu.mute,
            help: isMuted ? undefined : text.menu.muteHelp,
            icon: isMuted ? <Bell size={15} /> : <BellOff size={15} />,
            act: () => toggleMuted(conversation.conversationId),
          },
          {
            label: text.menu.copyPath,
            help: workspace.workingDir,
            icon: <FolderOpen size={15} />,
            act: () => void navigator.clipboard?.writeText(workspace.workingDir),
          },
          { label: text.menu.clear, icon: <Eraser size={15} />, isDanger: true, act: () => setDialog("clear") },
          { label: text.menu.remove, icon: <Trash2 size={15} />, isDanger: true, act: () => setDialog("remove") },
        ]}
        button={(props) => (
          <IconButton label={text.menu.more} {...props}>
            <EllipsisVertical size={18} />
          </IconButton>
        )}
      />
      {dialog === "rename" && <Rename place={place} close={close} />}
      {dialog === "clear" && (
        <Confirm
          title={text.menu.clear}
          question={text.menu.clearSure}
          close={close}
          act={() => attempt(control(place, "clear"))}
        />
      )}
      {dialog === "remove" && (
        <Confirm
          title={text.menu.remove}
          question={text.menu.removeSure(conversation.name)}
          close={close}
          act={() => attempt(deleteConversation(place).then(() => go("/list")))}
        />
      )}
    </header>
  );
}
