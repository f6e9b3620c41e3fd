/** The worktrees of all machines: whose they are, how far they went, what they take, and what becomes of them. */
import { FolderGit2 } from "lucide-react";
import { useCallback } from "react";
import type { Machine } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { listWorktrees } from "@/store/worktree-acts";
import { MachineAway } from "@/ui/away";
import { Button } from "@/ui/button";
import { useLoaded } from "@/ui/loaded";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { WorkTabs } from "@/ui/work-tabs";
import { Row } from "./row";

export function WorktreesScreen() {
  const text = useText();
  const mayLook = useRight("prompt");
  const online = useApp((app) => app.world.fleet).filter((machine) => machine.isOnline);
  return (
    <Page title={text.trees.title}>
      <WorkTabs />
      <p className="text-[14px] text-muted">{text.trees.help}</p>
      {!mayLook && <EmptyState title={text.refusal.forbidden} />}
      {mayLook && online.length === 0 && <MachineAway help={text.files.offlineHelp} />}
      {mayLook && online.map((machine) => <MachineTrees key={machine.deviceId} machine={machine} />)}
    </Page>
  );
}

function MachineTrees({ machine }: { machine: Machine }) {
  const text = useText();
  const { deviceId } = machine;
  const load = useCallback(() => listWorktrees(deviceId), [deviceId]);
  const { value, error, isLoading, again } = useLoaded(load);
  return (
    <section aria-label={machine.name} className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-2">
        <h2 className="text-[14px] font-semibold">
          {machine.icon} <Plain text={machine.name} />
        </h2>
        <Button kind="quiet" disabled={isLoading} onClick={again}>
          {text.files.refresh}
        </Button>
      </div>
      {!value && isLoading && <Skeleton label={text.tool.loading} rows={3} />}
      {error && (
        <p role="alert" className="text-[13.5px] text-red">
          {error}
        </p>
      )}
      {value?.length === 0 && (
        <div className="flex flex-col items-center rounded-md border border-line bg-surface px-4 py-5 text-center">
          <FolderGit2 size={24} className="text-faint" />
          <p className="font-medium">{text.trees.none}</p>
          <p className="text-[13.5px] text-muted">{text.trees.noneHelp}</p>
        </div>
      )}
      <ul className="flex flex-col gap-2">
        {value?.toReversed().map((tree) => (
          <Row key={tree.conversationId} deviceId={deviceId} tree={tree} again={again} />
        ))}
      </ul>
    </section>
  );
}
