/** Opens a shell in the folder of a workspace: at once if there is one, by choice if there are several. */
import { Plus } from "lucide-react";
import { useRef } from "react";
import { useLocation } from "wouter";
import type { Machine } from "@/model/fleet";
import { tell } from "@/store/acts";
import { newTerminalId, openShell } from "@/store/terminal-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { useOnce } from "@/ui/once";
import { terminalPath } from "./words";

export function NewShell({ machine }: { machine: Machine }) {
  const text = useText();
  const [, go] = useLocation();
  const { isBusy, once } = useOnce();
  // Kept until it is there: whoever presses again after no answer gets the same terminal and not a second one.
  const pending = useRef({ workspaceId: "", terminalId: "" });
  const { deviceId, workspaces } = machine;
  const open = (workspaceId: string) =>
    once(async () => {
      if (pending.current.workspaceId !== workspaceId) {
        pending.current = { workspaceId, terminalId: newTerminalId() };
      }
      try {
        const { terminalId } = await openShell(deviceId, workspaceId, pending.current.terminalId);
        pending.current = { workspaceId: "", terminalId: "" };
        go(terminalPath(deviceId, terminalId));
      } catch (failure) {
        tell(errorText(text, failure));
      }
    });
  const [first] = workspaces;
  if (!first) return <p className="text-[13px] text-muted">{text.terminal.noWorkspace}</p>;
  const label = (
    <>
      <Plus size={16} /> {text.terminal.openShell}
    </>
  );
  if (workspaces.length === 1) {
    return (
      <Button kind="main" disabled={isBusy} onClick={() => open(first.workspaceId)}>
        {label}
      </Button>
    );
  }
  return (
    <Menu
      label={text.terminal.where}
      items={workspaces.map((one) => ({
        label: one.name,
        help: one.workingDir,
        act: () => open(one.workspaceId),
      }))}
      button={(props) => (
        <Button kind="main" disabled={isBusy} {...props}>
          {label}
        </Button>
      )}
    />
  );
}
