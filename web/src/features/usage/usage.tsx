/** What was used: the last days as bars, and shares by model and conversation, over all machines. */
import { ChartNoAxesColumn } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import type { UsageGroup, UsageRow } from "@/gen";
import { find } from "@/model/fleet";
import { days, merge, tokensOf, totals } from "@/model/usage";
import { loadUsage } from "@/store/acts";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";

const SHOWN_DAYS = 30;
const SHOWN_ROWS = 12;

export function UsageScreen() {
  const text = useText();
  const formats = useFormats();
  const daily = useUsage("day");
  const all = useMemo(() => totals(daily ?? []), [daily]);
  return (
    <Page title={text.usage.title}>
      {daily === null && <Skeleton label={text.tool.loading} />}
      {daily?.length === 0 && (
        <EmptyState icon={<ChartNoAxesColumn size={30} />} title={text.usage.none} help={text.usage.noneHelp} />
      )}
      {daily && daily.length > 0 && (
        <>
          <dl className="grid grid-cols-3 gap-2 text-[13px] text-muted">
            <Figure label={text.settings.cost}>{formats.money(all.costUsd)}</Figure>
            <Figure label={text.settings.tokens}>{formats.compact(all.tokens)}</Figure>
            <Figure label={text.usage.cached}>{formats.compact(all.cachedTokens)}</Figure>
          </dl>
          <Bars rows={days(daily, new Date().toISOString().slice(0, 10), SHOWN_DAYS)} />
        </>
      )}
      <Shares group="model" title={text.usage.byModel} />
      <Shares group="conversation" title={text.usage.byConversation} />
    </Page>
  );
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="rounded-md border border-line bg-surface px-3 py-2.5">
      <dt>{label}</dt>
      <dd className="text-[18px] font-semibold text-ink tabular-nums">{children}</dd>
    </div>
  );
}

function Bars({ rows }: { rows: UsageRow[] }) {
  const text = useText();
  const formats = useFormats();
  const most = Math.max(...rows.map((row) => row.costUsd), 0.01);
  return (
    <figure>
      <figcaption className="pb-2 text-[13px] text-muted">{text.usage.perDay}</figcaption>
      <ol className="flex h-36 items-end gap-[3px] border-b border-line">
        {rows.map((row) => (
          <li
            key={row.key}
            className="group flex h-full flex-1 items-end"
            title={`${formats.day(row.key)}: ${formats.money(row.costUsd)}`}
          >
            <span className="sr-only">
              {formats.day(row.key)}: {formats.money(row.costUsd)}
            </span>
            <span
              aria-hidden="true"
              style={{ height: `${Math.max(row.costUsd > 0 ? 3 : 0, (row.costUsd / most) * 100)}%` }}
              className="w-full rounded-t-sm bg-accent group-hover:brightness-110"
            />
          </li>
        ))}
      </ol>
      <p className="flex justify-between pt-1 text-[12px] text-faint tabular-nums">
        <span>{formats.day(rows[0]?.key ?? "")}</span>
        <span>{formats.day(rows.at(-1)?.key ?? "")}</span>
      </p>
    </figure>
  );
}

function Shares({ group, title }: { group: UsageGroup; title: string }) {
  const formats = useFormats();
  const text = useText();
  const rows = useUsage(group);
  const fleet = useApp((app) => app.world.fleet);
  if (!rows || rows.length === 0) return null;
  const sorted = rows.toSorted((a, b) => b.costUsd - a.costUsd).slice(0, SHOWN_ROWS);
  const most = Math.max(sorted[0]?.costUsd ?? 0, 0.01);
  const name = (row: UsageRow) =>
    group === "conversation" ? (find(fleet, row.key)?.conversation.name ?? text.usage.deleted) : row.key;
  return (
    <section>
      <h2 className="pb-2 text-[14px] font-semibold">{title}</h2>
      <ul className="flex flex-col gap-2">
        {sorted.map((row) => (
          <li key={row.key} className="text-[14px]">
            <div className="flex items-baseline gap-3">
              <span className="min-w-0 flex-1 truncate">
                <Plain text={name(row)} />
              </span>
              <span className="text-[12.5px] text-faint tabular-nums">{formats.compact(tokensOf(row))}</span>
              <span className="w-20 text-right tabular-nums">{formats.money(row.costUsd)}</span>
            </div>
            <div className="mt-1 h-1.5 overflow-hidden rounded-full bg-surface">
              <div style={{ width: `${(row.costUsd / most) * 100}%` }} className="h-full rounded-full bg-accent" />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Null while it is being asked for; machines that do not answer are left out. */
function useUsage(group: UsageGroup): UsageRow[] | null {
  const online = useApp((app) =>
    app.world.fleet
      .filter((machine) => machine.isOnline)
      .map((machine) => machine.deviceId)
      .join(","),
  );
  const [rows, setRows] = useState<UsageRow[] | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const ids = online.split(",").filter(Boolean).map(Number);
    Promise.all(ids.map((id) => loadUsage(id, group).catch(() => []))).then(
      (lists) => isCurrent && setRows(merge(lists)),
    );
    return () => {
      isCurrent = false;
    };
  }, [online, group]);
  return rows;
}
