/**
 * The service worker: keeps the files of the first load, so that the app opens at once and without network.
 *
 * It keeps program files only. Nothing of a conversation passes through it.
 */
/// <reference lib="webworker" />
export type {};

declare const self: ServiceWorkerGlobalScope;

/** The build writes the names here. They carry hashes, so that a new build is a new cache. */
const FILES = "__ESTELLE_FILES__".split(" ");
const CACHE = `estelle-${FILES.join(",")}`;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/assets/")) event.respondWith(fromCache(event.request));
  // The page itself comes fresh when the network is there: a new build must not need a second visit.
  if (event.request.mode === "navigate")
    event.respondWith(fetch(event.request).catch(() => fromCache(new Request("/"))));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { conversationId } = event.notification.data as { conversationId: string };
  const address = `/#/c/${encodeURIComponent(conversationId)}`;
  const open = async () => {
    const [page] = await self.clients.matchAll({ type: "window" });
    if (!page) return void (await self.clients.openWindow(address));
    await page.focus();
    await page.navigate(address);
  };
  event.waitUntil(open());
});

async function fromCache(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept) return kept;
  const fresh = await fetch(request);
  if (fresh.ok) await cache.put(request, fresh.clone());
  return fresh;
}
