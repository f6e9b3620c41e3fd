/** Registers the service worker, through the one policy that may name a script by its address. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
}

export function keepFiles(): void {
  if (!("serviceWorker" in navigator)) return;
  const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const policy = trusted?.createPolicy("estelle", { createScriptURL: (url) => (url === "/sw.js" ? url : "") });
  const url = policy ? policy.createScriptURL("/sw.js") : "/sw.js";
  addEventListener("load", () => void navigator.serviceWorker.register(url).catch(() => undefined));
}
