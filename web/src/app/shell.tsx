/**
 * The frame of the views: list beside conversation on a desk, one at a time with a bar below on a phone.
 *
 * Windows that belong to no view (commands, keys, new conversation) are opened from here.
 */
import { Keyboard, Plus, Search, Settings as SettingsIcon } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { Inbox } from "@/features/decisions/inbox";
import { Sidebar } from "@/features/fleet/sidebar";
import { lastConversation } from "@/store/acts";
import { useApp } from "@/store/app";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { Star } from "@/ui/star";
import { Announcer } from "./announcer";
import { BottomBar, RailLinks } from "./bottom-bar";
import { ConnectionBar } from "./connection-bar";
import { Conversation } from "./conversation";
import { Home } from "./home";
import { useKeys } from "./keys";
import { Notices } from "./notices";
import { useNotifier } from "./notifier";
import { useStarState } from "./star-state";

const views = {
  settings: () => import("@/features/settings/settings"),
  palette: () => import("./commands"),
  usage: () => import("@/features/usage/usage"),
  rules: () => import("@/features/rules/rules"),
  help: () => import("@/features/palette/help"),
  create: () => import("@/features/create/create"),
  report: () => import("@/features/report/report"),
  tasks: () => import("@/features/tasks/board"),
  files: () => import("@/features/files/screen"),
};
const SettingsScreen = lazy(() => views.settings().then((file) => ({ default: file.SettingsScreen })));
const UsageScreen = lazy(() => views.usage().then((file) => ({ default: file.UsageScreen })));
const RulesScreen = lazy(() => views.rules().then((file) => ({ default: file.RulesScreen })));
const Palette = lazy(() => views.palette().then((file) => ({ default: file.Commands })));
const Help = lazy(() => views.help().then((file) => ({ default: file.Help })));
const Work = lazy(() => views.tasks().then((file) => ({ default: file.Work })));
const FolderScreen = lazy(() => views.files().then((file) => ({ default: file.FolderScreen })));
const Report = lazy(() => views.report().then((file) => ({ default: file.Report })));
const Create = lazy(() => views.create().then((file) => ({ default: file.Create })));

/** The views above come a little after the first picture, so that their first use does not wait. */
const PREFETCH_MS = 2_000;

export type Window =
  | { type: "palette" }
  | { type: "help" }
  | { type: "report" }
  | { type: "create"; deviceId: number; workspaceId?: string };

export function Shell() {
  const text = useText();
  const [path, go] = useLocation();
  const [window, setWindow] = useState<Window | null>(null);
  const close = useCallback(() => setWindow(null), []);
  const current = /^\/c\/([^/]+)/.exec(path)?.[1] ?? null;
  const currentId = current === null ? null : decodeURIComponent(current);
  const open = useCallback((id: string) => go(`/c/${encodeURIComponent(id)}`), [go]);
  const create = useCallback(
    (target: { deviceId: number; workspaceId?: string }) => setWindow({ type: "create", ...target }),
    [],
  );
  useNotifier();
  useKeys({ currentId, open, go, setWindow });
  useEffect(() => {
    const timer = setTimeout(() => Object.values(views).map((view) => view().catch(() => undefined)), PREFETCH_MS);
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
      <Rail current={currentId} setWindow={setWindow} create={create} />
      <main id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none safe-top">
        <ConnectionBar />
        <div className="min-h-0 flex-1">
          <Suspense fallback={null}>
            <Switch>
              <Route path="/c/:id/:tab">
                {({ id, tab }) => (
                  <FolderScreen
                    key={id + tab}
                    id={decodeURIComponent(id)}
                    tab={tab === "files" ? "files" : "changes"}
                  />
                )}
              </Route>
              <Route path="/c/:id">
                {(params) => <Conversation key={params.id} id={decodeURIComponent(params.id)} />}
              </Route>
              <Route path="/inbox" component={Inbox} />
              <Route path="/work" component={Work} />
              <Route path="/usage" component={UsageScreen} />
              <Route path="/rules" component={RulesScreen} />
              <Route path="/settings">
                <SettingsScreen
                  openHelp={() => setWindow({ type: "help" })}
                  openReport={() => setWindow({ type: "report" })}
                />
              </Route>
              <Route path="/list">
                <PhoneList current={currentId} create={create} setWindow={setWindow} />
              </Route>
              <Route>
                <Home />
              </Route>
            </Switch>
          </Suspense>
        </div>
      </main>
      {currentId === null && <BottomBar />}
      <Announcer />
      <Notices />
      <Suspense fallback={null}>
        {window?.type === "palette" && <Palette close={close} open={open} setWindow={setWindow} />}
        {window?.type === "help" && <Help close={close} />}
        {window?.type === "report" && <Report conversationId={currentId ?? lastConversation()} close={close} />}
        {window?.type === "create" && <Create target={window} close={close} open={open} />}
      </Suspense>
    </div>
  );
}

interface RailProps {
  current: string | null;
  setWindow: (window: Window) => void;
  create: (target: { deviceId: number; workspaceId?: string }) => void;
}

function Rail({ current, setWindow, create }: RailProps) {
  const text = useText();
  const width = useSettings((settings) => settings.sidebarWidth);
  return (
    <nav
      aria-label={text.nav.conversations}
      style={{ width }}
      className="relative hidden shrink-0 flex-col border-r border-line bg-surface md:flex"
    >
      <RailHead setWindow={setWindow} />
      <div className="px-2 pb-2">
        <RailLinks />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Sidebar current={current} create={create} />
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
      <Resizer width={width} />
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

const NARROWEST = 220;
const WIDEST = 520;

/** The edge of the list, to be drawn or moved with the arrow keys. */
function Resizer({ width }: { width: number }) {
  const text = useText();
  const set = (next: number) => changeSettings({ sidebarWidth: Math.min(WIDEST, Math.max(NARROWEST, next)) });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule that can be moved is exactly this role.
    <div
      role="separator"
      aria-label={text.nav.resize}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") set(width - 16);
        if (event.key === "ArrowRight") set(width + 16);
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && set(event.clientX)}
      className="absolute inset-y-0 -right-1 w-2 cursor-col-resize hover:bg-accent/30"
    />
  );
}
