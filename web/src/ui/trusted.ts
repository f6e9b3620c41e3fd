/** The one policy that may turn an address into a script: files of this build, and nothing else. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
}

const OWN = /^\/(?:sw\.js|assets\/[\w.-]+\.js)$/;

function check(url: string): string {
  const { origin, pathname } = new URL(url, location.href);
  if (origin !== location.origin || !OWN.test(pathname)) throw new TypeError(`not a script of this app: ${url}`);
  return url;
}

const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
const policy = types?.createPolicy("estelle", { createScriptURL: check });

/** An address that may be given to a worker. */
export function scriptUrl(url: string): string {
  return policy ? policy.createScriptURL(url) : check(url);
}
