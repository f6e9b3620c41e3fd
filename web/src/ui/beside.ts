/** Whether a view is drawn in the panel beside a conversation, which has a head and tabs of its own. */
import { createContext, useContext } from "react";

export const Beside = createContext(false);

export function useBeside(): boolean {
  return useContext(Beside);
}
