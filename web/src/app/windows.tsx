/**
 * Windows that belong to no view: commands, keys, a report, a new conversation.
 *
 * The palette is in the first load, because people type into it in the moment in which it opens. The others come when
 * they are wanted; until then an empty window keeps what is typed from the page behind.
 */
import { lazy, Suspense } from "react";
import { lastConversation } from "@/store/acts";
import { useText } from "@/store/text";
import { Dialog } from "@/ui/dialog";
import { Skeleton } from "@/ui/states";
import { Commands } from "./commands";

export type Window =
  | { type: "palette" }
  | { type: "help" }
  | { type: "report" }
  | { type: "create"; deviceId: number; workspaceId?: string };

export const windows = {
  help: () => import("@/features/palette/help"),
  create: () => import("@/features/create/create"),
  report: () => import("@/features/report/report"),
};
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
    <Suspense fallback={<Coming close={close} />}>
      {window.type === "palette" && <Commands close={close} open={open} setWindow={setWindow} />}
      {window.type === "help" && <Help close={close} />}
      {window.type === "report" && <Report conversationId={currentId ?? lastConversation()} close={close} />}
      {window.type === "create" && <Create target={window} close={close} open={open} />}
    </Suspense>
  );
}

function Coming({ close }: { close: () => void }) {
  const text = useText();
  return (
    <Dialog title={text.tool.loading} onClose={close}>
      <div className="p-5">
        <Skeleton label={text.tool.loading} />
      </div>
    </Dialog>
  );
}
