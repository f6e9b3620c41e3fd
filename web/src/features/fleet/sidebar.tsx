/** Machines with their workspaces and conversations, and on top of them whatever needs a person. */
import { ChevronDown, ChevronRight, FolderPlus, Plus } from "lucide-react";
import { useState } from "react";
import type { Workspace } from "@/gen";
import { glance, type Machine, type Place, places } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useUnsure } from "@/store/presence";
import { useText } from "@/store/text";
import { Button, IconButton } from "@/ui/button";
import { Plain } from "@/ui/plain";
import { ConversationRow } from "./conversation-row";
import { WorkspaceActions } from "./workspace-actions";

export interface SidebarProps {
  current: string | null;
  create: (target: { deviceId: number; workspaceId?: string }) => void;
}

export function Sidebar({ current, create }: SidebarProps) {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const [filter, setFilter] = useState("");
  const all = places(fleet);
  const needed = all.filter((place) => glance(place) === "needed");
  const wanted = filter.trim().toLowerCase();
  if (fleet.length === 0) {
    return <p className="px-4 py-2 text-[13.5px] text-faint">{text.fleet.noMachines}</p>;
  }
  return (
    <div className="flex flex-col gap-3 px-2 pb-4">
      {all.length > 6 && (
        <input
          type="search"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          placeholder={text.fleet.filter}
          aria-label={text.fleet.filter}
          className="min-h-11 rounded-md border border-line bg-bg px-3 text-[14px] placeholder:text-faint lg:min-h-8"
        />
      )}
      {wanted === "" && needed.length > 0 && (
        <section aria-label={text.fleet.needsYou}>
          <h2 className="px-2 pb-1 text-[12.5px] font-semibold text-amber">{text.fleet.needsYou}</h2>
          <ul>
            {needed.map((place) => (
              <ConversationRow key={place.conversation.conversationId} place={place} isCurrent={false} showsPlace />
            ))}
          </ul>
        </section>
      )}
      {wanted === "" ? (
        fleet.map((machine) => (
          <MachineTree key={machine.deviceId} machine={machine} current={current} create={create} />
        ))
      ) : (
        <Found found={all.filter((place) => matches(place, wanted))} current={current} />
      )}
    </div>
  );
}

function Found({ found, current }: { found: Place[]; current: string | null }) {
  const text = useText();
  if (found.length === 0) return <p className="px-2 text-[13.5px] text-faint">{text.fleet.nothingFound}</p>;
  return (
    <ul>
      {found.map((place) => (
        <ConversationRow
          key={place.conversation.conversationId}
          place={place}
          isCurrent={place.conversation.conversationId === current}
          showsPlace
        />
      ))}
    </ul>
  );
}

function MachineTree({ machine, current, create }: { machine: Machine } & SidebarProps) {
  const text = useText();
  const isUnsure = useUnsure();
  return (
    <section aria-label={machine.name}>
      <div className="flex items-center gap-1 pl-2">
        <h2 className="flex min-w-0 flex-1 items-center gap-2 text-[13px] font-semibold text-muted">
          <span aria-hidden="true">{machine.icon}</span>
          <span className="truncate">
            <Plain text={machine.name} />
          </span>
          {machine.isOnline ? (
            <span className="size-1.5 rounded-full bg-green" title={text.connection.online} />
          ) : (
            !isUnsure && <span className="text-[12px] font-normal text-faint">{text.fleet.offline}</span>
          )}
        </h2>
        {machine.isOnline && (
          <IconButton label={text.fleet.newWorkspace} onClick={() => create({ deviceId: machine.deviceId })}>
            <Plus size={16} />
          </IconButton>
        )}
      </div>
      {machine.workspaces.length === 0 && (
        <div className="mx-2 mt-1 flex flex-col gap-2 rounded-md border border-line border-dashed p-4 text-[13.5px]">
          <p>{text.fleet.noWorkspaces}</p>
          {machine.isOnline && (
            <>
              <p className="text-muted">{text.fleet.noWorkspacesHelp}</p>
              <Button kind="main" onClick={() => create({ deviceId: machine.deviceId })}>
                <FolderPlus size={16} /> {text.fleet.chooseFolder}
              </Button>
            </>
          )}
        </div>
      )}
      {machine.workspaces.map((workspace) => (
        <WorkspaceTree
          key={workspace.workspaceId}
          machine={machine}
          workspace={workspace}
          current={current}
          create={create}
        />
      ))}
    </section>
  );
}

function WorkspaceTree({
  machine,
  workspace,
  current,
  create,
}: { machine: Machine; workspace: Workspace } & SidebarProps) {
  const text = useText();
  const [isOpen, setOpen] = useState(true);
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <div className={machine.isOnline ? "" : "opacity-70"}>
      <div className="group flex items-center">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          title={workspace.workingDir}
          className="flex min-h-11 min-w-0 flex-1 items-center gap-1.5 rounded-sm px-2 text-left text-[13.5px] text-muted hover:bg-hover hover:text-ink lg:min-h-8"
        >
          <Arrow size={14} className="shrink-0 text-faint" />
          <span className="truncate font-medium">
            <Plain text={workspace.name} />
          </span>
        </button>
        {machine.isOnline && <WorkspaceActions machine={machine} workspace={workspace} />}
        {machine.isOnline && (
          <IconButton
            label={text.fleet.newConversation}
            onClick={() => create({ deviceId: machine.deviceId, workspaceId: workspace.workspaceId })}
            className="lg:size-8!"
          >
            <Plus size={15} />
          </IconButton>
        )}
      </div>
      {isOpen && (
        <ul>
          {workspace.conversations.map((conversation) => (
            <ConversationRow
              key={conversation.conversationId}
              place={{ machine, workspace, conversation }}
              isCurrent={conversation.conversationId === current}
            />
          ))}
          {workspace.leftOut !== undefined && workspace.leftOut > 0 && (
            <li className="px-3 py-1.5 text-[12.5px] text-faint">{text.fleet.leftOut(workspace.leftOut)}</li>
          )}
        </ul>
      )}
    </div>
  );
}

function matches(place: Place, wanted: string): boolean {
  return `${place.conversation.name} ${place.workspace.name} ${place.machine.name}`.toLowerCase().includes(wanted);
}
