/** Which build each machine runs, which one is published, and where the apps are. */
import { Bug, RefreshCw } from "lucide-react";
import { useState } from "react";
import type { VersionCheckResult } from "@/gen";
import type { Machine } from "@/model/fleet";
import { buildMoment, standingOf } from "@/model/release";
import { useApp } from "@/store/app";
import { checkVersion } from "@/store/machine-acts";
import { useFormats, useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { safeLink } from "@/ui/links";
import { Plain } from "@/ui/plain";
import { Section } from "./section";

type Found = { release: VersionCheckResult } | { error: string } | "looking";

export function Version({ openReport }: { openReport: () => void }) {
  const text = useText();
  const machines = useApp((app) => app.world.fleet).filter((machine) => machine.isOnline);
  const [found, setFound] = useState<Readonly<Record<number, Found>>>({});
  const isLooking = Object.values(found).includes("looking");
  const look = (deviceId: number) => {
    const tell = (one: Found) => setFound((known) => ({ ...known, [deviceId]: one }));
    tell("looking");
    checkVersion(deviceId).then(
      (release) => tell({ release }),
      (failure: unknown) => tell({ error: errorText(text, failure) }),
    );
  };
  return (
    <Section title={text.version.title}>
      {machines.length > 0 && (
        <ul className="overflow-hidden rounded-md border border-line">
          {machines.map((machine) => (
            <MachineVersion key={machine.deviceId} machine={machine} found={found[machine.deviceId]} />
          ))}
        </ul>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          disabled={isLooking || machines.length === 0}
          onClick={() => {
            for (const { deviceId } of machines) look(deviceId);
          }}
        >
          <RefreshCw size={16} /> {isLooking ? text.version.looking : text.version.look}
        </Button>
        <Button onClick={openReport}>
          <Bug size={16} /> {text.report.title}
        </Button>
      </div>
    </Section>
  );
}

function MachineVersion({ machine, found }: { machine: Machine; found: Found | undefined }) {
  const text = useText();
  const running = machine.status?.version;
  return (
    <li className="flex flex-col gap-1 border-b border-line bg-surface px-3 py-2.5 text-[14px] last:border-0">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span aria-hidden="true">{machine.icon}</span>
        <span dir="auto" className="min-w-0 flex-1 truncate">
          <Plain text={machine.name} />
        </span>
        <span className="text-[13px] text-muted tabular-nums">
          {running ? text.version.runs(running) : text.version.unknown}
        </span>
      </p>
      <div aria-live="polite" className="text-[13px]">
        {found !== undefined && found !== "looking" && "error" in found && <p className="text-red">{found.error}</p>}
        {found !== undefined && found !== "looking" && "release" in found && (
          <Published release={found.release} running={running} />
        )}
      </div>
    </li>
  );
}

function Published({ release, running }: { release: VersionCheckResult; running: string | undefined }) {
  const text = useText();
  const formats = useFormats();
  const { version, commit, buildTime, apkUrl, exeUrl } = release;
  const built = buildMoment(buildTime);
  const standing = standingOf(running, version);
  const links = [
    [text.version.phone, apkUrl],
    [text.version.desktop, exeUrl],
  ] as const;
  return (
    <>
      <p className={standing === "other" ? "text-amber" : "text-muted"}>
        {version === null ? text.version.nothing : text.version.published(version)}
        {commit && ` · ${commit.slice(0, 12)}`}
        {built !== undefined && ` · ${formats.moment(built)}`}
        {standing === "same" && ` · ${text.version.same}`}
        {standing === "other" && ` · ${text.version.other}`}
      </p>
      <p className="flex flex-wrap gap-x-4">
        {links.map(([label, url]) => {
          const link = url === null ? null : safeLink(url, "");
          return link ? (
            <a
              key={label}
              href={link.href}
              target="_blank"
              rel="noopener noreferrer nofollow"
              className="inline-flex min-h-11 items-center text-accent underline lg:min-h-8"
            >
              {label} ({new URL(link.href).host})
            </a>
          ) : null;
        })}
      </p>
    </>
  );
}
