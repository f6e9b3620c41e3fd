/** Where a conversation is; the same object for as long as nothing about it changed. */
import { useShallow } from "zustand/react/shallow";
import { find, type Place } from "@/model/fleet";
import { useApp } from "./app";

export function usePlace(conversationId: string): Place | undefined {
  const parts = useApp(
    useShallow((app) => {
      const place = find(app.world.fleet, conversationId);
      return { machine: place?.machine, workspace: place?.workspace, conversation: place?.conversation };
    }),
  );
  return parts.machine && parts.workspace && parts.conversation ? (parts as Place) : undefined;
}
