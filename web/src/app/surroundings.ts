/** What the app tells the browser around it: theme, title, icon, badge. Follows the stores; draws nothing itself. */
import { find } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useSettings } from "@/store/settings";
import { neededCount, starState } from "./star-state";

const ICONS = { still: "/icon.svg", working: "/icon-working.svg", needed: "/icon-needed.svg" } as const;

export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: light)");
  const apply = () => {
    const { theme } = useSettings.getState();
    document.documentElement.dataset.theme = theme === "system" ? (system.matches ? "light" : "dark") : theme;
  };
  system.addEventListener("change", apply);
  useSettings.subscribe(apply);
  apply();
}

export function followBadge(): void {
  let shown = "";
  const apply = () => {
    const { world } = useApp.getState();
    const needed = neededCount(world);
    const name = world.viewing ? find(world.fleet, world.viewing)?.conversation.name : undefined;
    const title = `${needed > 0 ? `(${needed}) ` : ""}${name ? `${name} · ` : ""}Estelle`;
    const icon = ICONS[starState(world)];
    if (shown === title + icon) return;
    shown = title + icon;
    document.title = title;
    document.getElementById("icon")?.setAttribute("href", icon);
    if (needed > 0) void navigator.setAppBadge?.(needed)?.catch(() => undefined);
    else void navigator.clearAppBadge?.()?.catch(() => undefined);
  };
  useApp.subscribe(apply);
  apply();
}
