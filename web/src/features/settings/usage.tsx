/** What the machines have used so far. */
import { Link } from "wouter";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { Section } from "./section";

export function Usage() {
  const text = useText();
  const formats = useFormats();
  const fleet = useApp((app) => app.world.fleet);
  const known = fleet.filter((machine) => machine.status);
  if (known.length === 0) return null;
  return (
    <Section title={text.settings.usage}>
      <table className="w-full text-left text-[14px] tabular-nums">
        <thead className="text-[12.5px] text-muted">
          <tr>
            <th className="py-1 font-normal">{text.create.machine}</th>
            <th className="py-1 text-right font-normal">{text.settings.sessions}</th>
            <th className="py-1 text-right font-normal">{text.settings.tokens}</th>
            <th className="py-1 text-right font-normal">{text.settings.cost}</th>
          </tr>
        </thead>
        <tbody>
          {known.map((machine) => {
            const usage = machine.status?.claudeUsage;
            if (!usage) return null;
            const tokens =
              usage.totalInputTokens +
              usage.totalOutputTokens +
              usage.totalCacheReadTokens +
              usage.totalCacheCreationTokens;
            return (
              <tr key={machine.deviceId} className="border-t border-line">
                <td className="py-2">
                  {machine.icon} {machine.name}
                </td>
                <td className="py-2 text-right">{formats.count(usage.sessionCount)}</td>
                <td className="py-2 text-right">{formats.compact(tokens)}</td>
                <td className="py-2 text-right">{formats.money(usage.totalCostUsd)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Link href="/usage" className="self-start text-[14px] text-accent underline">
        {text.usage.details}
      </Link>
    </Section>
  );
}
