/** What a person follows or pastes to pair: a link that carries the offer in its fragment, or that part alone. Pure. */
import type { Offer } from "@/api/pairing";

const MARK = /[#&]pair=([^&\s]+)/;
const OFFER = /^([\w-]+)\.([\w-]+)$/;

/** The offer in a link, or in its part after `pair=`. */
export function offerOf(text: string): Offer | null {
  const part = MARK.exec(text)?.[1] ?? text.trim();
  const [, pairId, secret] = OFFER.exec(part) ?? [];
  return pairId && secret ? { pairId, secret } : null;
}

/** A first guess at what to call this device. */
export function deviceName(userAgent: string): string {
  const system = /iPhone|iPad|Android|Windows|Mac OS X|CrOS|Linux/.exec(userAgent)?.[0] ?? "";
  const browser = /Edg|Firefox|Chrome|Safari/.exec(userAgent)?.[0] ?? "";
  const words = [system.replace("Mac OS X", "Mac").replace("CrOS", "Chromebook"), browser.replace("Edg", "Edge")];
  return words.filter(Boolean).join(" ") || "Browser";
}
