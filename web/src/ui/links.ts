/** Which links may be followed, and what a person should know about them before. Pure. */
export interface SafeLink {
  href: string;
  /** Where it goes, when its text claims or hides another place. */
  warns?: string;
}

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** A link that can be followed, or null for one that must stay text. */
export function safeLink(href: string, shown: string): SafeLink | null {
  const url = parse(href.trim());
  if (!url || !SCHEMES.has(url.protocol)) return null;
  if (url.protocol === "mailto:") return { href: url.href };
  const claimed = claimedHost(shown);
  const isOdd =
    url.username !== "" || url.password !== "" || url.hostname.split(".").some((part) => part.startsWith("xn--"));
  const isOther = claimed !== null && claimed !== url.hostname;
  return isOdd || isOther ? { href: url.href, warns: url.host } : { href: url.href };
}

/** The host that a link's text looks like, if it looks like an address. */
function claimedHost(shown: string): string | null {
  const text = shown.trim();
  if (!/^(https?:\/\/)?[^\s/@]+\.[a-z]{2,}(\/|$|:)/i.test(text)) return null;
  return parse(text.includes("://") ? text : `https://${text}`)?.hostname ?? null;
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
