/** The ways between views: the bar of a phone, and the inbox's entry on a desk. */
import { Inbox, ListTodo, MessagesSquare, Settings } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useText } from "@/store/text";
import { WORK_PATHS } from "@/ui/work-tabs";
import { useNeeded } from "./star-state";

export function RailLinks() {
  const text = useText();
  const needed = useNeeded();
  return (
    <>
      <RailLink href="/inbox" label={text.nav.inbox} icon={<Inbox size={17} />} count={needed} />
      <RailLink href="/work" label={text.nav.work} icon={<ListTodo size={17} />} />
    </>
  );
}

function RailLink({ href, label, icon, count = 0 }: { href: string; label: string; icon: ReactNode; count?: number }) {
  const [path] = useLocation();
  const isCurrent = path === href || isWithin(href, path);
  return (
    <Link
      href={href}
      aria-current={isCurrent ? "page" : undefined}
      className={`flex min-h-9 items-center gap-2.5 rounded-sm px-2 text-[14px] ${isCurrent ? "bg-accent-soft" : "hover:bg-hover"}`}
    >
      <span className={count > 0 ? "text-amber" : "text-muted"}>{icon}</span>
      <span className="flex-1">{label}</span>
      {count > 0 && <Count value={count} />}
    </Link>
  );
}

export function BottomBar() {
  const text = useText();
  const needed = useNeeded();
  return (
    <nav
      aria-label={text.nav.more}
      className="safe-bottom grid shrink-0 grid-cols-4 border-t border-line bg-surface md:hidden"
    >
      <Tab href="/inbox" label={text.nav.inbox} icon={<Inbox size={21} />} count={needed} />
      <Tab href="/list" label={text.nav.conversations} icon={<MessagesSquare size={21} />} />
      <Tab href="/work" label={text.nav.work} icon={<ListTodo size={21} />} />
      <Tab href="/settings" label={text.nav.settings} icon={<Settings size={21} />} />
    </nav>
  );
}

function Tab({ href, label, icon, count = 0 }: { href: string; label: string; icon: ReactNode; count?: number }) {
  const [path] = useLocation();
  const isCurrent = path === href || (href === "/list" && path === "/") || isWithin(href, path);
  return (
    <Link
      href={href}
      aria-current={isCurrent ? "page" : undefined}
      className={`flex min-h-14 flex-col items-center justify-center gap-0.5 text-[11.5px] ${isCurrent ? "text-accent" : "text-muted"}`}
    >
      <span className="relative">
        {icon}
        {count > 0 && (
          <span className="absolute -top-1.5 left-3">
            <Count value={count} />
          </span>
        )}
      </span>
      {label}
    </Link>
  );
}

/** Work has several views, behind one entry. */
function isWithin(href: string, path: string): boolean {
  return href === "/work" && WORK_PATHS.some((one) => path === one || path.startsWith(`${one}/`));
}

function Count({ value }: { value: number }) {
  return (
    <span className="rounded-full bg-amber-fill px-1.5 text-[12px] font-semibold leading-[18px] text-amber-ink">
      {value}
    </span>
  );
}
