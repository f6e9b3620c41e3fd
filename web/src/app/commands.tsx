/** The commands of the palette. */
import { useMemo } from "react";
import { useLocation } from "wouter";
import { Palette, type PaletteCommand } from "@/features/palette/palette";
import { find } from "@/model/fleet";
import { control } from "@/store/acts";
import { useApp } from "@/store/app";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import type { Window } from "./shell";

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
  const commands = useMemo((): PaletteCommand[] => {
    const { fleet } = useApp.getState().world;
    const place = viewing ? find(fleet, viewing) : undefined;
    const machine = place?.machine ?? fleet.find((one) => one.isOnline);
    const list: PaletteCommand[] = [{ label: text.nav.inbox, keys: "Alt I", act: () => go("/inbox") }];
    if (machine) {
      const target = {
        deviceId: machine.deviceId,
        workspaceId: place?.workspace.workspaceId ?? machine.workspaces[0]?.workspaceId,
      };
      list.push({
        label: text.palette.newConversation,
        keys: "Alt N",
        act: () => setWindow({ type: "create", ...target }),
      });
      list.push({
        label: text.fleet.newWorkspace,
        act: () => setWindow({ type: "create", deviceId: machine.deviceId }),
      });
    }
    if (place)
      list.push({
        label: text.palette.stop,
        keys: "Alt S",
        act: () => void control(place, "stop").catch(() => undefined),
      });
    list.push({
      label: text.palette.toggleTheme,
      act: () => changeSettings({ theme: theme === "light" ? "dark" : "light" }),
    });
    list.push({ label: text.palette.help, keys: "?", act: () => setWindow({ type: "help" }) });
    list.push({ label: text.usage.title, act: () => go("/usage") });
    list.push({ label: text.rules.title, act: () => go("/rules") });
    list.push({ label: text.nav.settings, act: () => go("/settings") });
    return list;
  }, [text, viewing, theme, go, setWindow]);
  return <Palette commands={commands} open={open} close={close} />;
}
