/**
 * What the device keeps between visits, all under one prefix so that signing out leaves nothing behind.
 *
 * A browser that refuses to keep anything still runs the app.
 */
const PREFIX = "estelle.";

export function load<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

export function save(name: string, value: unknown): void {
  try {
    if (value === null || value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or forbidden: the app goes on without memory.
  }
}

/** Removes everything this app has kept, the service worker's copies included. */
export async function clearAll(): Promise<void> {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
    if ("caches" in globalThis) for (const name of await caches.keys()) await caches.delete(name);
  } catch {
    // Nothing was kept then.
  }
}
