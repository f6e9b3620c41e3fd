/** Bytes as standard base64 with padding, in pieces that no call is too long for. Pure. */
const PIECE = 3 * 8_192;

export function base64(bytes: Uint8Array): string {
  let text = "";
  // Every piece but the last is a multiple of three, so padding comes at the end alone.
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  }
  return text;
}
