/** What a view shows when it has nothing else to show: nothing yet, loading, or a problem with a way on. */
import type { ReactNode } from "react";

export function EmptyState({
  icon,
  title,
  help,
  children,
}: {
  icon?: ReactNode;
  title: string;
  help?: string;
  children?: ReactNode;
}) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-3 p-8 text-center">
      {icon && <div className="text-faint">{icon}</div>}
      <p className="text-[17px] font-semibold">{title}</p>
      {help && <p className="max-w-sm text-[14px] text-muted">{help}</p>}
      {children && <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}

/** Grey bars where text will be. */
export function Skeleton({ label, rows = 6 }: { label: string; rows?: number }) {
  const widths = ["w-3/4", "w-full", "w-5/6", "w-2/3", "w-11/12", "w-1/2"];
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-3">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={`breathe h-4 rounded-sm bg-raised ${widths[index % widths.length]}`} />
      ))}
    </div>
  );
}
