/**
 * The service worker: keeps the files of the first load, so that the app opens at once and without network, and shows
 * what machines push while nobody looks.
 *
 * It keeps program files only. What is pushed holds nothing of a conversation; its name comes from what the page left here.
 */
/// <reference lib="webworker" />
export type {};

declare const self: ServiceWorkerGlobalScope;

/** The build writes the names here. They carry hashes, so that a new build is a new cache. */
const FILES = "__ESTELLE_FILES__".split(" ");
const CACHE = `estelle-${FILES.join(",")}`;
/** What the page leaves for notifications: words of the person's language, and names (`app/push-words.ts`). */
const [WORDS, WORDS_FILE] = ["estelle-words", "/push-words"];
/** Registrations that are for pushes alone keep no files. */
const isForPush = new URL(self.registration.scope).pathname.startsWith("/push/");

self.addEventListener("install", (event) => {
  const keep = async () => {
    if (!isForPush) await (await caches.open(CACHE)).addAll(FILES);
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    if (isForPush) return;
    for (const name of await caches.keys()) if (name !== CACHE && name !== WORDS) await caches.delete(name);
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

self.addEventListener("push", (event) => event.waitUntil(tell(event.data)));

interface Left {
  kinds?: Record<string, string>;
  names?: Record<string, string>;
}

/** A browser wants every push to be shown, also one that makes no sense. */
async function tell(data: PushMessageData | null): Promise<void> {
  const { kind, conversationId, title } = read<{ kind?: string; conversationId?: string; title?: string }>(data);
  const left = await (await caches.open(WORDS)).match(WORDS_FILE);
  const { kinds = {}, names = {} } = left
    ? await left.json().then(
        (words: Left) => words,
        () => ({}) as Left,
      )
    : {};
  const name = (conversationId && names[conversationId]) || title || "Estelle";
  await self.registration.showNotification(name, {
    body: kinds[kind ?? ""] ?? "",
    tag: conversationId ?? kind ?? "",
    icon: "/icon-192.png",
    data: { conversationId },
  });
}

function read<T extends object>(data: PushMessageData | null): Partial<T> {
  try {
    const value: unknown = data?.json();
    return typeof value === "object" && value !== null ? (value as T) : {};
  } catch {
    return {};
  }
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { conversationId } = (event.notification.data ?? {}) as { conversationId?: string };
  const place = conversationId === undefined ? "/inbox" : `/c/${encodeURIComponent(conversationId)}`;
  const open = async () => {
    // The page is in no scope of a push, so it is asked to go there and not taken.
    const [page] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (!page) return void (await self.clients.openWindow(`/#${place}`));
    page.postMessage({ open: place });
    await page.focus();
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
