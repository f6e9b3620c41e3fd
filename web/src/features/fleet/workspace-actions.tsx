/** What can be done with a workspace as a whole. */
import { Archive, Ellipsis, FolderOpen, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Workspace } from "@/gen";
import type { Machine } from "@/model/fleet";
import { deleteWorkspace, renameWorkspace, tell } from "@/store/acts";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { AskName, Confirm } from "@/ui/ask";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";

export function WorkspaceActions({ machine, workspace }: { machine: Machine; workspace: Workspace }) {
  const text = useText();
  const [dialog, setDialog] = useState<"rename" | "remove" | null>(null);
  const [, go] = useLocation();
  const isAdmin = useRight("admin");
  const { deviceId } = machine;
  const { workspaceId, name, workingDir, conversations } = workspace;
  const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => tell(errorText(text, error)));
  const close = () => setDialog(null);
  return (
    <>
      <Menu
        label={text.fleet.workspaceActions(name)}
        items={[
          { label: text.menu.rename, icon: <Pencil size={15} />, act: () => setDialog("rename") },
          {
            label: text.menu.copyPath,
            help: workingDir,
            icon: <FolderOpen size={15} />,
            act: () => void navigator.clipboard?.writeText(workingDir),
          },
          {
            label: text.saved.menu,
            help: text.saved.menuHelp,
            icon: <Archive size={15} />,
            act: () => go(`/saved/${deviceId}/${encodeURIComponent(workspaceId)}`),
          },
          {
            label: text.menu.remove,
            help: isAdmin ? text.fleet.deleteHelp : text.menu.noRight,
            icon: <Trash2 size={15} />,
            isDanger: true,
            isDisabled: !isAdmin,
            act: () => setDialog("remove"),
          },
        ]}
        button={(props) => (
          <IconButton
            label={text.fleet.workspaceActions(name)}
            className="lg:size-8! lg:opacity-0 lg:group-focus-within:opacity-100 lg:group-hover:opacity-100 lg:aria-expanded:opacity-100"
            {...props}
          >
            <Ellipsis size={16} />
          </IconButton>
        )}
      />
      {dialog === "rename" && (
        <AskName
          title={text.menu.rename}
          name={name}
          close={close}
          act={(next) => attempt(renameWorkspace(deviceId, workspaceId, next))}
        />
      )}
      {dialog === "remove" && (
        <Confirm
          title={text.menu.remove}
          question={text.fleet.deleteSure(name, conversations.length)}
          close={close}
          act={() => attempt(deleteWorkspace(deviceId, workspaceId))}
        />
      )}
    </>
  );
}
