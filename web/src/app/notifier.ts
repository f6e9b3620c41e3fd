/**
 * Tells somebody who does not look at the page, if they want it: by the system, without anything of what was said.
 *
 * Only while the page lives. A machine that reaches the device by push tells it itself, also when no page is open.
 */
import { useEffect } from "react";
import { find } from "@/model/fleet";
import { isQuiet, type News, newsBetween } from "@/model/news";
import { useApp } from "@/store/app";
import { isTold } from "@/store/notify-acts";
import { useSettings } from "@/store/settings";
import { useText } from "@/store/text";

export function useNotifier(): void {
  const text = useText();
  useEffect(
    () =>
      useApp.subscribe((now, before) => {
        const { notifies, muted, quiet } = useSettings.getState();
        if (!notifies || isQuiet(quiet, new Date()) || !document.hidden || !("Notification" in globalThis)) return;
        if (Notification.permission !== "granted") return;
        for (const one of newsBetween(before.world, now.world, muted)) {
          if (isTold(find(now.world.fleet, one.conversationId)?.machine.deviceId ?? 0)) continue;
          void show(one, one.kind === "decision" ? text.state.needed : text.result.done);
        }
      }),
    [text],
  );
}

async function show({ conversationId, name }: News, body: string): Promise<void> {
  const options = { body, tag: conversationId, icon: "/icon-192.png", data: { conversationId } };
  const worker = await navigator.serviceWorker?.getRegistration();
  try {
    if (worker) await worker.showNotification(name, options);
    else new Notification(name, options);
  } catch {
    // The browser does not show any; the title and the icon still say that somebody is needed.
  }
}
