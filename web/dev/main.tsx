/** The app over the stand-in. The address chooses what to see: `?scene=…&theme=…&lang=…&panel=…`. */
import "@/styles.css";
import { mount } from "@/app/mount";
import type { Language } from "@/i18n";
import { PANEL_TABS } from "@/model/panel";
import { changeSettings, type Theme } from "@/store/settings";
import { save } from "@/store/storage";
import { Peer } from "./peer";
import { sceneOf } from "./scenes";

const wanted = new URLSearchParams(location.search);
const name = wanted.get("scene") ?? "chat";
// A visit begins with nothing, unless it goes on with what an earlier one kept.
if (!wanted.has("keep")) localStorage.clear();
if (name !== "pairing") save("token", "stand-in");
changeSettings({
  theme: (wanted.get("theme") as Theme) ?? "system",
  language: (wanted.get("lang") as Language) ?? "en",
});

const panelTab = PANEL_TABS.find((tab) => tab === wanted.get("panel"));
if (panelTab) changeSettings({ panelTab, isPanelOpen: true });

const scene = sceneOf(name, Number(wanted.get("entries") ?? "0"));
const peer = new Peer({ ...scene, isHeld: wanted.has("hold"), isRefused: wanted.has("refuse") });
Object.assign(globalThis, { peer });
const root = document.getElementById("root");
if (root) void mount(root, peer.connect);
