/**
 * The frame of the views: list beside conversation on a desk, one at a time with a bar below on a phone.
 *
 * Windows that belong to no view (commands, keys, new conversation) are opened from here.
 */
import { Keyboard, Plus, Search, Settings as SettingsIcon } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { Sidebar } from "@/features/fleet/sidebar";
import { startingPlace } from "@/model/fleet";
import { lastConversation } from "@/store/acts";
import { useApp } from "@/store/app";
import { usePanelOpen } from "@/store/panel";
import { changeSettings, useSettings } from "@/store/settings";
import { useSize } from "@/store/size";
import { useText } from "@/store/text";
import { Boundary } from "@/ui/boundary";
import { IconButton } from "@/ui/button";
import { Resizer } from "@/ui/resizer";
import { Star } from "@/ui/star";
import { Announcer } from "./announcer";
import { BottomBar, RailLinks } from "./bottom-bar";
import { BrokenWindow, broken, brokenPart } from "./broken";
import { ConnectionBar } from "./connection-bar";
import { useKeys } from "./keys";
import { Notices } from "./notices";
import { useNotifier } from "./notifier";
import { useStarState } from "./star-state";
import { useSwipe, type Ways } from "./swipe";
import { conversationOf, Views, views } from "./views";
import { OpenWindow, type Window, windows } from "./windows";

/** Views and windows come a little after the first picture, so that their first use does not wait. */
const PREFETCH_MS = 2_000;

const panel = () => import("./panel");
const Panel = lazy(() => panel().then((file) => ({ default: file.Panel })));

function prefetch(): void {
  for (const load of [...Object.values(views), ...Object.values(windows), panel]) load().catch(() => undefined);
}

export function Shell() {
  const text = useText();
  const [path, go] = useLocation();
  const [window, setWindow] = useState<Window | null>(null);
  const close = useCallback(() => setWindow(null), []);
  const currentId = conversationOf(path);
  const open = useCallback((id: string) => go(`/c/${encodeURIComponent(id)}`), [go]);
  const create = useCallback(
    (target: { deviceId: number; workspaceId?: string }) => setWindow({ type: "create", ...target }),
    [],
  );
  const hasPanel = usePanelOpen() && currentId !== null;
  // What a panel lies over is not to be reached behind it.
  const isCovered = useSize() === "tablet" && hasPanel;
  const main = useRef<HTMLElement>(null);
  useSwipe(main, useWays(path, currentId, open, go));
  useNotifier();
  useKeys({ currentId, open, go, setWindow });
  useEffect(() => {
    const timer = setTimeout(prefetch, PREFETCH_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="flex h-full flex-col md:flex-row">
      <button
        type="button"
        onClick={() => document.getElementById("main")?.focus()}
        className="sr-only-focusable z-50 bg-raised p-3"
      >
        {text.app.skipToContent}
      </button>
      <Rail current={currentId} setWindow={setWindow} create={create} isCovered={isCovered} />
      <main
        ref={main}
        id="main"
        tabIndex={-1}
        inert={isCovered}
        className="flex min-h-0 min-w-0 flex-1 flex-col outline-none safe-top lg:min-w-[360px]"
      >
        <ConnectionBar />
        <div className="min-h-0 flex-1">
          <Boundary of={path} broken={broken}>
            <Views
              list={<PhoneList current={currentId} create={create} setWindow={setWindow} />}
              setWindow={setWindow}
            />
          </Boundary>
        </div>
      </main>
      {hasPanel && (
        <Boundary of={currentId} broken={brokenPart}>
          <Suspense fallback={null}>
            <Panel conversationId={currentId} />
          </Suspense>
        </Boundary>
      )}
      {currentId === null && !path.startsWith("/terminals/") && <BottomBar />}
      <Announcer />
      <Notices />
      {window && (
        <Boundary of={window} broken={(error) => <BrokenWindow error={error} close={close} />}>
          <OpenWindow window={window} currentId={currentId} close={close} open={open} setWindow={setWindow} />
        </Boundary>
      )}
    </div>
  );
}

/** Where a finger leads: from a conversation to the list, and from the list to the one that was read last. */
function useWays(path: string, currentId: string | null, open: (id: string) => void, go: (path: string) => void): Ways {
  const isTalk = currentId !== null && path === `/c/${encodeURIComponent(currentId)}`;
  const isList = path === "/list";
  return useMemo(
    () => ({
      back: isTalk ? () => go("/list") : null,
      forth: isList ? () => openLast(open) : null,
    }),
    [isTalk, isList, open, go],
  );
}

function openLast(open: (id: string) => void): void {
  const place = startingPlace(useApp.getState().world.fleet, lastConversation());
  if (place) open(place.conversation.conversationId);
}

const NARROWEST = 220;
const WIDEST = 520;

interface RailProps {
  current: string | null;
  setWindow: (window: Window) => void;
  create: (target: { deviceId: number; workspaceId?: string }) => void;
}

function Rail({ current, setWindow, create, isCovered }: RailProps & { isCovered: boolean }) {
  const text = useText();
  const width = useSettings((settings) => settings.sidebarWidth);
  return (
    <nav
      aria-label={text.nav.conversations}
      style={{ width }}
      inert={isCovered}
      className="relative hidden shrink-0 flex-col border-r border-line bg-surface md:flex"
    >
      <RailHead setWindow={setWindow} />
      <div className="px-2 pb-2">
        <RailLinks />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Boundary broken={brokenPart}>
          <Sidebar current={current} create={create} />
        </Boundary>
      </div>
      <div className="flex items-center gap-1 border-t border-line p-2">
        <Link
          href="/settings"
          className="flex min-h-9 flex-1 items-center gap-2.5 rounded-sm px-2 text-[14px] text-muted hover:bg-hover hover:text-ink"
        >
          <SettingsIcon size={17} /> {text.nav.settings}
        </Link>
        <IconButton label={text.help.title} onClick={() => setWindow({ type: "help" })}>
          <Keyboard size={17} />
        </IconButton>
      </div>
      <Resizer
        label={text.nav.resize}
        side="right"
        width={width}
        narrowest={NARROWEST}
        widest={WIDEST}
        set={(sidebarWidth) => changeSettings({ sidebarWidth })}
      />
    </nav>
  );
}

function RailHead({ setWindow }: { setWindow: (window: Window) => void }) {
  const text = useText();
  const state = useStarState();
  return (
    <div className="flex items-center gap-2.5 py-3 pr-2 pl-4">
      <Star state={state} />
      <span className="flex-1 text-[15px] font-semibold tracking-tight">{text.app.name}</span>
      <IconButton label={`${text.nav.palette} (Ctrl K)`} onClick={() => setWindow({ type: "palette" })}>
        <Search size={17} />
      </IconButton>
    </div>
  );
}

function PhoneList({ current, create, setWindow }: RailProps) {
  const text = useText();
  const machine = useApp((app) => app.world.fleet.find((one) => one.isOnline));
  return (
    <div className="flex h-full flex-col">
      <div className="flex items-center pr-1">
        <div className="flex-1">
          <RailHead setWindow={setWindow} />
        </div>
        {machine && (
          <IconButton
            label={text.fleet.newConversation}
            onClick={() => create({ deviceId: machine.deviceId, workspaceId: machine.workspaces[0]?.workspaceId })}
          >
            <Plus size={20} />
          </IconButton>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Sidebar current={current} create={create} />
      </div>
    </div>
  );
}
