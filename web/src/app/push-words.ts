/** Leaves words and names where the service worker finds them: what machines push says neither. Nothing leaves the device. */
import { places } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useSettings } from "@/store/settings";
import { textNow } from "@/store/text";
import { followWishes } from "@/ui/push";

/** As `sw.ts` reads it. */
const [PLACE, FILE] = ["estelle-words", "/push-words"];
const SETTLE_MS = 1_000;

export function followPush(): void {
  followWishes();
  navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent<{ open?: unknown }>) => {
    if (typeof data?.open === "string") location.hash = data.open;
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void write().catch(() => undefined), SETTLE_MS);
  };
  useApp.subscribe((app, before) => app.world.fleet !== before.world.fleet && later());
  useSettings.subscribe(later);
}

let written = "";

async function write(): Promise<void> {
  if (!useSettings.getState().notifies || !("caches" in globalThis)) return;
  const words = textNow();
  const named = places(useApp.getState().world.fleet).map(({ conversation }) => [
    conversation.conversationId,
    conversation.name,
  ]);
  const text = JSON.stringify({ kinds: words.notify.kinds, names: Object.fromEntries(named) });
  if (text === written) return;
  await (await caches.open(PLACE)).put(FILE, new Response(text));
  written = text;
}
