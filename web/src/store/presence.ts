/** Whether it is known at all which machines are there. */
import { isUnsure } from "@/model/presence";
import { useApp } from "./app";

export function useUnsure(): boolean {
  return useApp((app) => isUnsure(app.phase, app.world));
}
