/** The app over the stand-in. The address chooses what to see: `?scene=…&theme=…&lang=…`. */
import "@/styles.css";
import { mount } from "@/app/mount";
import type { Language } from "@/i18n";
import { changeSettings, type Theme } from "@/store/settings";
import { save } from "@/store/storage";
import { Peer } from "./peer";
import { sceneOf } from "./scenes";

const wanted = new URLSearchParams(location.search);
const name = wanted.get("scene") ?? "chat";
localStorage.clear();
if (name !== "pairing") save("token", "stand-in");
changeSettings({
  theme: (wanted.get("theme") as Theme) ?? "system",
  language: (wanted.get("lang") as Language) ?? "en",
});

const peer = new Peer(sceneOf(name, Number(wanted.get("entries") ?? "0")));
Object.assign(globalThis, { peer });
const root = document.getElementById("root");
if (root) void mount(root, peer.connect);
