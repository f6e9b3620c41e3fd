/** What was used: the last days as bars, and shares by model and conversation, over all machines. */
import { ChartNoAxesColumn } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";

import type { UsageGroup, UsageRow } from "@/gen";
import { find } from "@/model/fleet";
import { days, merge, tokensOf, totals } from "@/model/usage";
import { loadUsage } from "@/store/acts";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { MachineAway } from "@/ui/away";
import { Button } from "@/ui/button";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { Budgets } from "./budgets";

const SHOWN_DAYS = 30;
const SHOWN_ROWS = 12;

export function UsageScreen() {
  const text = useText();
  const formats = useFormats();
  const { rows: daily, missing, again } = useUsage("day");
  const machines = useApp((app) => app.world.fleet.length);
  const all = useMemo(() => totals(daily ?? []), [daily]);
  const isAway = missing.length === machines && missing.every((one) => !one.isOnline);
  const isRefused = missing.length === machines && !isAway;
  return (
    <Page title={text.usage.title}>
      {isAway && <MachineAway icon={<ChartNoAxesColumn size={30} />} help={text.usage.awayHelp} />}
      {isRefused && (
        <EmptyState icon={<ChartNoAxesColumn size={30} />} title={text.usage.notTold}>
          <Button onClick={again}>{text.connection.retry}</Button>
        </EmptyState>
      )}
      {!isAway && !isRefused && daily === null && <Skeleton label={text.tool.loading} />}
      {!isAway && !isRefused && daily?.length === 0 && (
        <EmptyState icon={<ChartNoAxesColumn size={30} />} title={text.usage.none} help={text.usage.noneHelp} />
      )}
      {!isAway && !isRefused && missing.length > 0 && (
        <p role="status" className="rounded-md border border-line bg-surface px-3.5 py-2.5 text-[13.5px] text-amber">
          <Plain text={text.usage.without(missing.map((one) => one.name).join(", "))} />
        </p>
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
      <Budgets />
      <Shares group="model" title={text.usage.byModel} />
      <Shares group="conversation" title={text.usage.byConversation} />
    </Page>
  );
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-col justify-between rounded-md border border-line bg-surface px-3 py-2.5">
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
  const { rows } = useUsage(group);
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

interface Used {
  /** Null while it is being asked for. */
  rows: UsageRow[] | null;
  /** Machines that do not tell what they used, and whether they are there at all. */
  missing: { name: string; isOnline: boolean }[];
  again(): void;
}

/** What all machines used. One that is away or refuses is named: its share is not nothing. */
function useUsage(group: UsageGroup): Used {
  const fleet = useApp((app) => app.world.fleet);
  const online = fleet
    .filter((machine) => machine.isOnline)
    .map((machine) => machine.deviceId)
    .join(",");
  const [tries, setTries] = useState(0);
  const [told, setTold] = useState<Map<number, UsageRow[] | null> | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a further try is a reason to ask.
  useEffect(() => {
    let isCurrent = true;
    const ids = online.split(",").filter(Boolean).map(Number);
    const asked = ids.map(async (id) => [id, await loadUsage(id, group).catch(() => null)] as const);
    Promise.all(asked).then((answers) => isCurrent && setTold(new Map(answers)));
    return () => {
      isCurrent = false;
    };
  }, [online, group, tries]);
  return useMemo(() => {
    const missing = fleet.filter(({ deviceId, isOnline }) => !isOnline || (told?.has(deviceId) && !told.get(deviceId)));
    const lists = [...(told?.values() ?? [])].filter((one) => one !== null);
    const isTold = told !== null && fleet.every(({ deviceId, isOnline }) => !isOnline || told.has(deviceId));
    return { rows: isTold ? merge(lists) : null, missing, again: () => setTries((count) => count + 1) };
  }, [told, fleet]);
}
