/** Windows that belong to no view: commands, keys, a report, a new conversation. */
import { lazy, Suspense } from "react";
import { lastConversation } from "@/store/acts";

export type Window =
  | { type: "palette" }
  | { type: "help" }
  | { type: "report" }
  | { type: "create"; deviceId: number; workspaceId?: string };

export const windows = {
  palette: () => import("./commands"),
  help: () => import("@/features/palette/help"),
  create: () => import("@/features/create/create"),
  report: () => import("@/features/report/report"),
};
const Palette = lazy(() => windows.palette().then((file) => ({ default: file.Commands })));
const Help = lazy(() => windows.help().then((file) => ({ default: file.Help })));
const Report = lazy(() => windows.report().then((file) => ({ default: file.Report })));
const Create = lazy(() => windows.create().then((file) => ({ default: file.Create })));

export interface OpenWindowProps {
  window: Window;
  currentId: string | null;
  close: () => void;
  open: (conversationId: string) => void;
  setWindow: (window: Window) => void;
}

export function OpenWindow({ window, currentId, close, open, setWindow }: OpenWindowProps) {
  return (
    <Suspense fallback={null}>
      {window.type === "palette" && <Palette close={close} open={open} setWindow={setWindow} />}
      {window.type === "help" && <Help close={close} />}
      {window.type === "report" && <Report conversationId={currentId ?? lastConversation()} close={close} />}
      {window.type === "create" && <Create target={window} close={close} open={open} />}
    </Suspense>
  );
}
