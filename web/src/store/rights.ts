/** What this device may do. While there is no connection nobody has said no. */
import type { Right } from "@/gen";
import { useApp } from "./app";

export function useRight(right: Right): boolean {
  return useApp(({ phase }) => phase.name !== "online" || phase.rights.length === 0 || phase.rights.includes(right));
}
