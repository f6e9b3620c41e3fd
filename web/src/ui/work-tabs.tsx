/** The ways between the views of work: tasks, terminals, deploy. */
import { Link, useLocation } from "wouter";
import { useText } from "@/store/text";
import { useBeside } from "./beside";

/** Where the views of work are, in the order of their tabs. */
export const WORK_PATHS = ["/work", "/terminals", "/worktrees", "/deploy"] as const;

export function WorkTabs() {
  const text = useText();
  const [path] = useLocation();
  const isBeside = useBeside();
  if (isBeside) return null;
  const labels: Record<(typeof WORK_PATHS)[number], string> = {
    "/work": text.worker.tasks,
    "/terminals": text.terminal.title,
    "/worktrees": text.trees.title,
    "/deploy": text.deploy.title,
  };
  return (
    <nav aria-label={text.nav.work} className="-mx-1 flex gap-1 overflow-x-auto px-1">
      {WORK_PATHS.map((href) => (
        <Link
          key={href}
          href={href}
          aria-current={path === href ? "page" : undefined}
          className={`flex min-h-11 shrink-0 items-center rounded-md px-3.5 text-[14px] lg:min-h-9 ${path === href ? "bg-accent-soft font-medium" : "text-muted hover:bg-hover"}`}
        >
          {labels[href]}
        </Link>
      ))}
    </nav>
  );
}
