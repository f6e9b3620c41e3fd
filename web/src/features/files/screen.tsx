/** The folder of a conversation: what is not committed, and all its files. Looking changes nothing. */
import { ArrowLeft } from "lucide-react";
import { Link, useLocation } from "wouter";
import { folderOf, type Place } from "@/model/fleet";
import { usePlace } from "@/store/place";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { MachineAway } from "@/ui/away";
import { useBeside } from "@/ui/beside";
import { IconButton } from "@/ui/button";
import { Plain } from "@/ui/plain";
import { EmptyState } from "@/ui/states";
import { Browse } from "./browse";
import { Changes } from "./changes";

export interface FolderScreenProps {
  id: string;
  tab: "changes" | "files";
}

export function FolderScreen({ id, tab }: FolderScreenProps) {
  const text = useText();
  const [, go] = useLocation();
  const place = usePlace(id);
  const mayLook = useRight("prompt");
  const isBeside = useBeside();
  const base = `/c/${encodeURIComponent(id)}`;
  if (isBeside) {
    return (
      <div className="flex h-full flex-col">
        <p dir="ltr" className="truncate px-4 pt-3 font-mono text-[12px] text-faint">
          <Plain text={place ? folderOf(place) : ""} />
        </p>
        <Inside place={place} mayLook={mayLook} tab={tab} />
      </div>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center gap-1 border-b border-line py-1.5 pr-3 pl-1.5">
        <IconButton label={text.nav.back} onClick={() => go(base)}>
          <ArrowLeft size={19} />
        </IconButton>
        <div className="min-w-0 flex-1">
          <h1 dir="auto" className="truncate text-[15px] font-semibold leading-snug">
            <Plain text={place?.workspace.name ?? text.files.title} />
          </h1>
          <p dir="ltr" className="truncate font-mono text-[12px] text-faint">
            <Plain text={place ? folderOf(place) : ""} />
          </p>
        </div>
        <nav aria-label={text.files.title} className="flex rounded-md border border-line p-0.5">
          <Tab href={`${base}/changes`} label={text.files.changes} isCurrent={tab === "changes"} />
          <Tab href={`${base}/files`} label={text.files.all} isCurrent={tab === "files"} />
        </nav>
      </header>
      <Inside place={place} mayLook={mayLook} tab={tab} />
    </div>
  );
}

function Inside({ place, mayLook, tab }: { place: Place | undefined; mayLook: boolean; tab: "changes" | "files" }) {
  const text = useText();
  if (!place) return <EmptyState title={text.talk.missing} help={text.talk.missingHelp} />;
  if (!place.machine.isOnline) return <MachineAway help={text.files.offlineHelp} />;
  if (!mayLook) return <EmptyState title={text.refusal.forbidden} />;
  return (
    <section aria-label={text.files.title} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto outline-none">
      <div className="mx-auto flex w-full max-w-[900px] flex-col gap-3 px-3 py-4">
        {tab === "changes" ? <Changes place={place} /> : <Browse place={place} />}
      </div>
    </section>
  );
}

function Tab({ href, label, isCurrent }: { href: string; label: string; isCurrent: boolean }) {
  return (
    <Link
      href={href}
      replace
      aria-current={isCurrent ? "page" : undefined}
      className={`flex min-h-11 items-center rounded-sm px-3 text-[13.5px] lg:min-h-8 ${isCurrent ? "bg-accent-soft font-medium" : "text-muted hover:bg-hover"}`}
    >
      {label}
    </Link>
  );
}
