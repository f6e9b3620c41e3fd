/** Registers the service worker. */
import { scriptUrl } from "@/ui/trusted";

export function keepFiles(): void {
  if (!("serviceWorker" in navigator)) return;
  addEventListener("load", () => void navigator.serviceWorker.register(scriptUrl("/sw.js")).catch(() => undefined));
}
