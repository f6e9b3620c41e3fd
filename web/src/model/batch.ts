/**
 * What came since the last picture, folded into the world frame by frame.
 *
 * A frame that cannot be folded is left out and said so; those before and after it count all the same. In the
 * conversation on the screen the next event then shows that one is missing, and its page is read again.
 */
import { notice } from "./notices";
import { type Ask, type Frame, onFrame, type Turned, type World } from "./world";

/** `isTaken` says whether somebody else was waiting for a frame, so that the world need not know of it. */
export function onBatch(
  world: World,
  frames: readonly Frame[],
  now: number,
  isTaken: (frame: Frame) => boolean = () => false,
): Turned {
  const asks: Ask[] = [];
  let next = world;
  for (const frame of frames) {
    try {
      if (isTaken(frame)) continue;
      const turned = onFrame(next, frame, now);
      next = turned.world;
      asks.push(...turned.asks);
    } catch (error) {
      console.warn(`a frame of the kind ${frame.type} could not be read`, error);
      next = unreadable(next);
    }
  }
  return { world: next, asks };
}

/** Said once, however many frames it is about. */
function unreadable(world: World): World {
  const isSaid = world.notices.some((one) => one.code === "unreadable");
  return isSaid ? world : notice(world, { code: "unreadable", words: "" });
}
