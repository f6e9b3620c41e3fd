/** Everything that can be done with a conversation as a whole. */
import {
  Bell,
  BellOff,
  Cpu,
  EllipsisVertical,
  Eraser,
  FolderOpen,
  FolderTree,
  Pencil,
  Search,
  Sparkles,
  SquareTerminal,
  Trash2,
} from "lucide-react";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { folderOf, type Place } from "@/model/fleet";
import { control, deleteConversation, renameConversation, tell } from "@/store/acts";
import { startFinding } from "@/store/finding";
import { useRight } from "@/store/rights";
import { toggleMuted, useSettings } from "@/store/settings";
import { newTerminalId, openAgent } from "@/store/terminal-acts";
import { useText } from "@/store/text";
import { AskName, Confirm } from "@/ui/ask";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { ModelDialog } from "./model";

export function Actions({ place }: { place: Place }) {
  const text = useText();
  const [, go] = useLocation();
  const [dialog, setDialog] = useState<"rename" | "model" | "clear" | "remove" | null>(null);
  const { conversation } = place;
  const id = conversation.conversationId;
  const isMuted = useSettings((settings) => settings.muted.includes(id));
  const isAdmin = useRight("admin");
  const mayType = useRight("terminal");
  // Pressed again after no answer, it is the same terminal.
  const terminalId = useRef(newTerminalId());
  const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => tell(errorText(text, error)));
  const close = () => setDialog(null);
  const toTerminal = () =>
    openAgent(place, terminalId.current).then((terminal) => {
      terminalId.current = newTerminalId();
      go(`/terminals/${place.machine.deviceId}/${encodeURIComponent(terminal.terminalId)}`);
    });
  return (
    <>
      <Menu
        label={text.menu.more}
        items={[
          { label: text.find.open, icon: <Search size={15} />, act: () => startFinding(id) },
          {
            label: text.files.open,
            icon: <FolderTree size={15} />,
            act: () => go(`/c/${encodeURIComponent(id)}/changes`),
          },
          {
            label: text.terminal.openAgent,
            help: mayType ? text.terminal.openAgentHelp : text.terminal.noRight,
            icon: <SquareTerminal size={15} />,
            isDisabled: !mayType,
            act: () => void attempt(toTerminal()),
          },
          { label: text.menu.rename, icon: <Pencil size={15} />, act: () => setDialog("rename") },
          {
            label: text.menu.changeModel,
            help: conversation.model ?? text.menu.modelDefault,
            icon: <Cpu size={15} />,
            act: () => setDialog("model"),
          },
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
            act: () => toggleMuted(id),
          },
          {
            label: text.menu.copyPath,
            help: folderOf(place),
            icon: <FolderOpen size={15} />,
            act: () => void navigator.clipboard?.writeText(folderOf(place)),
          },
          { label: text.menu.clear, icon: <Eraser size={15} />, isDanger: true, act: () => setDialog("clear") },
          {
            label: text.menu.remove,
            help: isAdmin ? undefined : text.menu.noRight,
            icon: <Trash2 size={15} />,
            isDanger: true,
            isDisabled: !isAdmin,
            act: () => setDialog("remove"),
          },
        ]}
        button={(props) => (
          <IconButton label={text.menu.more} {...props}>
            <EllipsisVertical size={18} />
          </IconButton>
        )}
      />
      {dialog === "rename" && (
        <AskName
          title={text.menu.rename}
          name={conversation.name}
          close={close}
          act={(name) => attempt(renameConversation(place, name))}
        />
      )}
      {dialog === "model" && <ModelDialog place={place} close={close} />}
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
    </>
  );
}
