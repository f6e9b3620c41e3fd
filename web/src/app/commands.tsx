/** The commands of the palette: everywhere one can go, and what can be done with the conversation on the screen. */
import { useMemo } from "react";
import { useLocation } from "wouter";
import { Palette, type PaletteCommand } from "@/features/palette/palette";
import type { PermissionMode } from "@/gen";
import type { Catalogue } from "@/i18n";
import { find, type Place } from "@/model/fleet";
import { PANEL_TABS, panelPath } from "@/model/panel";
import { control, setMode, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { startFinding } from "@/store/finding";
import { showPanel, togglePanel } from "@/store/panel";
import { useRight } from "@/store/rights";
import { changeSettings, toggleMuted, useSettings } from "@/store/settings";
import { sizeNow } from "@/store/size";
import { useText } from "@/store/text";
import { errorText, panelNames } from "@/ui/label";
import type { Window } from "./windows";

export interface CommandsProps {
  close: () => void;
  open: (conversationId: string) => void;
  setWindow: (window: Window) => void;
}

export function Commands({ close, open, setWindow }: CommandsProps) {
  const text = useText();
  const [, go] = useLocation();
  const theme = useSettings((settings) => settings.theme);
  const viewing = useApp((app) => app.world.viewing);
  const isAdmin = useRight("admin");
  const commands = useMemo((): PaletteCommand[] => {
    const { fleet } = useApp.getState().world;
    const place = viewing ? find(fleet, viewing) : undefined;
    return [
      { label: text.nav.inbox, keys: "Alt I", act: () => go("/inbox") },
      ...creating(text, place, setWindow),
      ...(place ? here(text, place, isAdmin, go) : []),
      { label: text.nav.conversations, act: () => go("/list") },
      { label: text.nav.work, act: () => go("/work") },
      { label: text.trees.title, act: () => go("/worktrees") },
      { label: text.deploy.title, act: () => go("/deploy") },
      { label: text.terminal.title, act: () => go("/terminals") },
      { label: text.usage.title, act: () => go("/usage") },
      { label: text.rules.title, act: () => go("/rules") },
      { label: text.nav.settings, act: () => go("/settings") },
      {
        label: text.palette.toggleTheme,
        act: () => changeSettings({ theme: theme === "light" ? "dark" : "light" }),
      },
      { label: text.report.title, act: () => setWindow({ type: "report" }) },
      { label: text.palette.help, keys: "?", act: () => setWindow({ type: "help" }) },
    ];
  }, [text, viewing, theme, isAdmin, go, setWindow]);
  return <Palette commands={commands} open={open} close={close} />;
}

function creating(text: Catalogue, place: Place | undefined, setWindow: (window: Window) => void): PaletteCommand[] {
  const machine = place?.machine ?? useApp.getState().world.fleet.find((one) => one.isOnline);
  if (!machine) return [];
  const { deviceId } = machine;
  const workspaceId = place?.workspace.workspaceId ?? machine.workspaces[0]?.workspaceId;
  return [
    {
      label: text.palette.newConversation,
      keys: "Alt N",
      act: () => setWindow({ type: "create", deviceId, workspaceId }),
    },
    { label: text.fleet.newWorkspace, act: () => setWindow({ type: "create", deviceId }) },
  ];
}

/** What can be looked at beside the conversation. On a phone the folder has a view, and all else is a command anyway. */
function beside(text: Catalogue, id: string, go: (path: string) => void): PaletteCommand[] {
  if (sizeNow() === "phone") return [{ label: text.files.open, act: () => go(panelPath("changes", id)) }];
  const names = panelNames(text);
  return [
    ...PANEL_TABS.map((tab) => ({ label: text.panel.beside(names[tab]), act: () => showPanel(tab) })),
    { label: text.panel.toggle, keys: "Alt P", act: togglePanel },
  ];
}

const MODES: PermissionMode[] = ["default", "acceptEdits", "plan"];

/** Allowing everything is not one key press away; it is in the menu, with its warning. */
function here(text: Catalogue, place: Place, isAdmin: boolean, go: (path: string) => void): PaletteCommand[] {
  const id = place.conversation.conversationId;
  const isMuted = useSettings.getState().muted.includes(id);
  const attempt = (work: Promise<unknown>) => void work.catch((error: unknown) => tell(errorText(text, error)));
  const modes = MODES.filter((mode) => mode !== (place.conversation.permissionMode ?? "default"));
  return [
    { label: text.palette.stop, keys: "Alt S", act: () => attempt(control(place, "stop")) },
    ...beside(text, id, go),
    { label: text.find.title, keys: "Alt F", act: () => startFinding(id) },
    { label: text.palette.newSession, act: () => attempt(control(place, "new_session")) },
    { label: isMuted ? text.menu.unmute : text.menu.mute, act: () => toggleMuted(id) },
    ...(isAdmin ? modes : []).map((mode) => ({
      label: text.palette.mode(text.mode[mode]),
      act: () => attempt(setMode(place, mode)),
    })),
  ];
}
