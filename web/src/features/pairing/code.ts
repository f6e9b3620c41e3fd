/** What a person types or follows to pair: the bare code, or a link that carries it in its fragment. Pure. */
const MARK = /[#&]pair=([^&]+)/;

export function codeOf(text: string): string | null {
  const found = MARK.exec(text)?.[1];
  return found === undefined ? null : decodeURIComponent(found);
}

/** A first guess at what to call this device. */
export function deviceName(userAgent: string): string {
  const system = /iPhone|iPad|Android|Windows|Mac OS X|CrOS|Linux/.exec(userAgent)?.[0] ?? "";
  const browser = /Edg|Firefox|Chrome|Safari/.exec(userAgent)?.[0] ?? "";
  const words = [system.replace("Mac OS X", "Mac").replace("CrOS", "Chromebook"), browser.replace("Edg", "Edge")];
  return words.filter(Boolean).join(" ") || "Browser";
}
