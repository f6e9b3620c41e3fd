/** What was really on the screen while something moved: pictures of the compositor, and how much of each is empty. */
import { inflateSync } from "node:zlib";
import type { Page } from "playwright-core";

interface Picture {
  width: number;
  height: number;
  /** Bytes of one dot. */
  depth: number;
  dots: Buffer;
}

/** A part of the page, in its own pixels. */
export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Every picture that the browser shows while something is done. */
export async function picturesOf(page: Page, act: () => Promise<void>): Promise<Buffer[]> {
  const session = await page.context().newCDPSession(page);
  const pictures: Buffer[] = [];
  session.on("Page.screencastFrame", ({ data, sessionId }) => {
    pictures.push(Buffer.from(data, "base64"));
    // The page may be gone by then.
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
  });
  await session.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
  await act();
  await session.send("Page.stopScreencast");
  await session.detach();
  return pictures;
}

/** The highest stretch of a part in which every line has one colour alone, in pixels of the page. */
export function emptyStretch(png: Buffer, { x, y, width, height }: Frame, pageWidth: number): number {
  const picture = decode(png);
  const scale = picture.width / pageWidth;
  const last = Math.min(picture.height, Math.floor((y + height) * scale));
  let most = 0;
  let run = 0;
  for (let line = Math.ceil(y * scale); line < last; line++) {
    run = isFlat(picture, line, Math.ceil(x * scale), Math.floor((x + width) * scale)) ? run + 1 : 0;
    most = Math.max(most, run);
  }
  return most / scale;
}

/** Differences that no eye sees are none. */
const ALIKE = 3;

function isFlat({ width, depth, dots }: Picture, line: number, from: number, to: number): boolean {
  const first = (line * width + from) * depth;
  for (let at = first; at < (line * width + to) * depth; at += depth) {
    for (let colour = 0; colour < 3; colour++)
      if (Math.abs((dots[at + colour] ?? 0) - (dots[first + colour] ?? 0)) > ALIKE) return false;
  }
  return true;
}

/** Pictures of the browser are PNG with eight bits a colour and no interlacing. */
function decode(png: Buffer): Picture {
  const parts: Buffer[] = [];
  let [width, height, depth] = [0, 0, 3];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const name = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") [width, height, depth] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
    if (name === "IDAT") parts.push(data);
    at += 12 + length;
  }
  return { width, height, depth, dots: unfilter(inflateSync(Buffer.concat(parts)), width * depth, height, depth) };
}

/** Each line says how it differs from what is left of it and above it. */
function unfilter(raw: Buffer, bytes: number, lines: number, depth: number): Buffer {
  const dots = Buffer.alloc(bytes * lines);
  for (let line = 0; line < lines; line++) {
    const filter = raw[line * (bytes + 1)];
    for (let at = 0; at < bytes; at++) {
      const here = line * bytes + at;
      const left = at >= depth ? (dots[here - depth] ?? 0) : 0;
      const above = line > 0 ? (dots[here - bytes] ?? 0) : 0;
      const corner = line > 0 && at >= depth ? (dots[here - bytes - depth] ?? 0) : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter ?? 0] ?? 0;
      dots[here] = ((raw[line * (bytes + 1) + 1 + at] ?? 0) + guess) & 255;
    }
  }
  return dots;
}

function paeth(left: number, above: number, corner: number): number {
  const sum = left + above - corner;
  const [a, b, c] = [Math.abs(sum - left), Math.abs(sum - above), Math.abs(sum - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}
