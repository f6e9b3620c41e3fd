/** One worktree, with the ways to its conversation, into its base branch, and out of the disk. */
import { GitBranch } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Worktree } from "@/gen";
import { find } from "@/model/fleet";
import { tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { useFormats, useText } from "@/store/text";
import { mergeWorktree, removeWorktree } from "@/store/worktree-acts";
import { Confirm } from "@/ui/ask";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { MachineWords } from "@/ui/machine-words";
import { useOnce } from "@/ui/once";
import { Plain } from "@/ui/plain";

export interface RowProps {
  deviceId: number;
  tree: Worktree;
  again: () => void;
}

export function Row({ deviceId, tree, again }: RowProps) {
  const text = useText();
  const isAdmin = useRight("admin");
  const { isBusy, once } = useOnce();
  const [asked, setAsked] = useState<"merge" | "remove" | null>(null);
  const [said, setSaid] = useState<{ words: string; isBad: boolean } | null>(null);
  const fleet = useApp((app) => app.world.fleet);
  const conversation = find(fleet, tree.conversationId)?.conversation;
  const isDirty = (tree.uncommitted ?? 0) > 0;
  const act = (work: () => Promise<string>) =>
    once(async () => {
      try {
        setSaid({ words: await work(), isBad: false });
      } catch (failure) {
        setSaid({ words: errorText(text, failure), isBad: true });
      }
      again();
    });
  const merge = () => act(async () => text.trees.merged(await mergeWorktree(deviceId, tree)));
  const remove = () =>
    act(async () => {
      const kept = await removeWorktree(deviceId, tree, isDirty);
      // The row may be gone by then, and what stays must be known.
      if (kept.length > 0) tell(text.trees.keptBranches(kept.join(", ")));
      return text.trees.removed;
    });
  const base = `/c/${encodeURIComponent(tree.conversationId)}`;
  return (
    <li className="flex flex-col gap-2 rounded-md border border-line bg-surface px-3.5 py-3">
      <div className="flex items-start gap-2.5">
        <GitBranch size={17} className="mt-1 shrink-0 text-faint" />
        <div className="min-w-0 flex-1">
          <p dir="ltr" className="font-mono text-[13.5px] [overflow-wrap:anywhere]">
            <Plain text={tree.branch} />
          </p>
          <p dir="auto" className="text-[13px] text-muted [overflow-wrap:anywhere]">
            <Plain text={conversation?.name ?? text.usage.deleted} />
            {tree.state !== "ready" && <span className="text-amber"> · {text.trees.state[tree.state]}</span>}
          </p>
        </div>
      </div>
      <Figures tree={tree} />
      {tree.problem && (
        <p className="text-[13px] text-amber">
          {text.trees.problem}
          <MachineWords words={tree.problem} />
        </p>
      )}
      {tree.state === "ready" && (
        <div className="flex flex-wrap gap-2">
          {conversation && (
            <Link
              href={`${base}/changes`}
              className="flex min-h-11 items-center rounded-md border border-line-strong bg-raised px-4 text-[14px] hover:bg-hover lg:min-h-9"
            >
              {text.files.changes}
            </Link>
          )}
          <Button disabled={isBusy || !tree.ahead || !tree.baseBranch} onClick={() => setAsked("merge")}>
            {text.trees.merge}
          </Button>
          <Button
            kind="danger"
            disabled={isBusy || !isAdmin}
            title={isAdmin ? undefined : text.menu.noRight}
            onClick={() => setAsked("remove")}
          >
            {text.trees.remove}
          </Button>
        </div>
      )}
      {said && (
        <p role={said.isBad ? "alert" : "status"} className={`text-[13px] ${said.isBad ? "text-red" : "text-green"}`}>
          {said.words}
        </p>
      )}
      {asked === "merge" && (
        <Confirm
          title={text.trees.merge}
          question={text.trees.mergeSure(tree.branch, tree.baseBranch ?? "")}
          yes={text.trees.mergeYes}
          close={() => setAsked(null)}
          act={merge}
        />
      )}
      {asked === "remove" && (
        <Confirm
          title={text.trees.remove}
          question={isDirty ? text.trees.discardSure(tree.uncommitted ?? 0) : text.trees.removeSure}
          yes={isDirty ? text.trees.discardYes : text.trees.removeYes}
          close={() => setAsked(null)}
          act={remove}
        />
      )}
    </li>
  );
}

function Figures({ tree }: { tree: Worktree }) {
  const text = useText();
  const formats = useFormats();
  const { baseBranch, ahead, behind, insertions, deletions, uncommitted, diskBytes } = tree;
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-[12.5px] text-faint tabular-nums">
      {baseBranch && (
        <span>
          {text.trees.from} <Plain text={baseBranch} />
        </span>
      )}
      {ahead !== undefined && <span>{text.trees.ahead(ahead)}</span>}
      {behind !== undefined && behind > 0 && <span>{text.trees.behind(behind)}</span>}
      {insertions !== undefined && (
        <span>
          <span className="text-green">+{formats.count(insertions)}</span>{" "}
          <span className="text-red">−{formats.count(deletions ?? 0)}</span>
        </span>
      )}
      {uncommitted !== undefined && uncommitted > 0 && (
        <span className="text-amber">{text.trees.uncommitted(uncommitted)}</span>
      )}
      {diskBytes !== undefined && <span>{formats.bytes(diskBytes)}</span>}
    </p>
  );
}
