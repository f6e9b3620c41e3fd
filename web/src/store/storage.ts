/**
 * What the device keeps between visits, all under one prefix so that signing out leaves nothing behind.
 *
 * A browser that refuses to keep anything still runs the app. Several tabs share it: what a person must not lose has a
 * name of its own for each piece (`loadEach`), so that no tab writes over what another keeps.
 */
const PREFIX = "estelle.";

/** For how long something is kept: for the device, or for the page in this tab, which others must not take for theirs. */
type Keep = "device" | "tab";

function storageOf(keep: Keep): Storage {
  return keep === "tab" ? sessionStorage : localStorage;
}

export function load<T>(name: string, fallback: T, keep: Keep = "device"): T {
  try {
    const text = storageOf(keep).getItem(PREFIX + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

export function save(name: string, value: unknown, keep: Keep = "device"): void {
  try {
    if (value === null || value === undefined) storageOf(keep).removeItem(PREFIX + name);
    else storageOf(keep).setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or forbidden: the app goes on without memory.
  }
}

/** Everything that was kept under names that begin with `start`, by what follows it. */
export function loadEach<T>(start: string): Map<string, T> {
  const found = new Map<string, T>();
  try {
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith(PREFIX + start)) continue;
      const value = load<T | null>(name.slice(PREFIX.length), null);
      if (value !== null) found.set(name.slice(PREFIX.length + start.length), value);
    }
  } catch {
    // Nothing was kept then.
  }
  return found;
}

/** Hears what other tabs keep under names that begin with `start`; `null` is what they forget. */
export function followOthers<T>(start: string, hear: (rest: string, value: T | null) => void): () => void {
  const listener = ({ key, newValue }: StorageEvent) => {
    if (!key?.startsWith(PREFIX + start)) return;
    try {
      hear(key.slice(PREFIX.length + start.length), newValue === null ? null : (JSON.parse(newValue) as T));
    } catch {
      // No word of this app.
    }
  };
  addEventListener("storage", listener);
  return () => removeEventListener("storage", listener);
}

/** Removes everything this app has kept, the service worker's copies included. */
export async function clearAll(): Promise<void> {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
    const tab = globalThis.sessionStorage;
    for (const name of Object.keys(tab ?? {})) if (name.startsWith(PREFIX)) tab.removeItem(name);
    // With its registration a way to be told of something ends.
    const workers = (await globalThis.navigator?.serviceWorker?.getRegistrations()) ?? [];
    for (const worker of workers) if (new URL(worker.scope).pathname.startsWith("/push/")) await worker.unregister();
    if ("caches" in globalThis) for (const name of await caches.keys()) await caches.delete(name);
  } catch {
    // Nothing was kept then.
  }
}
