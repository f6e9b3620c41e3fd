/** Every view and its address. All but the first ones are loaded when they are wanted. */
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import { Route, Switch, useLocation } from "wouter";
import { Inbox } from "@/features/decisions/inbox";
import { showPanel } from "@/store/panel";
import { useSize } from "@/store/size";
import { useText } from "@/store/text";
import { Skeleton } from "@/ui/states";
import { Conversation } from "./conversation";
import { Home } from "./home";
import type { Window } from "./windows";

export const views = {
  settings: () => import("@/features/settings/settings"),
  usage: () => import("@/features/usage/usage"),
  rules: () => import("@/features/rules/rules"),
  tasks: () => import("@/features/tasks/board"),
  files: () => import("@/features/files/screen"),
  worktrees: () => import("@/features/worktrees/screen"),
  deploy: () => import("@/features/deploy/screen"),
  terminals: () => import("@/features/terminal/list"),
  saved: () => import("@/features/saved/screen"),
};
const SettingsScreen = lazy(() => views.settings().then((file) => ({ default: file.SettingsScreen })));
export const UsageScreen = lazy(() => views.usage().then((file) => ({ default: file.UsageScreen })));
const RulesScreen = lazy(() => views.rules().then((file) => ({ default: file.RulesScreen })));
export const Work = lazy(() => views.tasks().then((file) => ({ default: file.Work })));
export const FolderScreen = lazy(() => views.files().then((file) => ({ default: file.FolderScreen })));
const WorktreesScreen = lazy(() => views.worktrees().then((file) => ({ default: file.WorktreesScreen })));
const DeployScreen = lazy(() => views.deploy().then((file) => ({ default: file.DeployScreen })));
export const TerminalsScreen = lazy(() => views.terminals().then((file) => ({ default: file.TerminalsScreen })));
const SavedScreen = lazy(() => views.saved().then((file) => ({ default: file.SavedScreen })));
// The one view that is large: it comes when it is wanted.
export const TerminalScreen = lazy(() =>
  import("@/features/terminal/view").then((file) => ({ default: file.TerminalScreen })),
);

/** The conversation that an address is about. */
export function conversationOf(path: string): string | null {
  const [, id] = /^\/c\/([^/]+)/.exec(path) ?? [];
  return id === undefined ? null : decoded(id);
}

/** An address that somebody cut names nothing, and must not end the page. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A conversation, or its folder: beside it where there is room, else in its place. */
function Talk({ id, tab }: { id: string; tab: string | undefined }) {
  const [, go] = useLocation();
  const isPhone = useSize() === "phone";
  const wanted = tab === undefined ? null : tab === "files" ? "files" : "changes";
  useEffect(() => {
    if (isPhone || wanted === null) return;
    showPanel(wanted);
    go(`/c/${encodeURIComponent(id)}`, { replace: true });
  }, [isPhone, wanted, id, go]);
  if (isPhone && wanted !== null) return <FolderScreen key={wanted} id={id} tab={wanted} />;
  return <Conversation id={id} />;
}

/** `list` is what a phone shows where a desk has its rail. */
export function Views({ list, setWindow }: { list: ReactNode; setWindow: (window: Window) => void }) {
  return (
    <Suspense fallback={<Coming />}>
      <Switch>
        <Route path="/c/:id/:tab?">{({ id, tab }) => <Talk key={id} id={decoded(id)} tab={tab} />}</Route>
        <Route path="/inbox" component={Inbox} />
        <Route path="/work" component={Work} />
        <Route path="/worktrees" component={WorktreesScreen} />
        <Route path="/deploy" component={DeployScreen} />
        <Route path="/terminals" component={TerminalsScreen} />
        <Route path="/terminals/:device/:id">
          {({ device, id }) => (
            <TerminalScreen key={`${device} ${id}`} deviceId={Number(device)} terminalId={decoded(id)} />
          )}
        </Route>
        <Route path="/saved/:device/:workspace/:session?">
          {({ device, workspace, session }) => (
            <SavedScreen
              key={`${device} ${workspace} ${session}`}
              deviceId={Number(device)}
              workspaceId={decoded(workspace)}
              sessionId={session === undefined ? undefined : decoded(session)}
            />
          )}
        </Route>
        <Route path="/usage" component={UsageScreen} />
        <Route path="/rules" component={RulesScreen} />
        <Route path="/settings">
          <SettingsScreen
            openHelp={() => setWindow({ type: "help" })}
            openReport={() => setWindow({ type: "report" })}
          />
        </Route>
        <Route path="/list">{list}</Route>
        <Route>
          <Home />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Where a view will be, as soon as it is loaded. */
export function Coming() {
  const text = useText();
  return (
    <div className="mx-auto w-full max-w-[740px] px-4 py-5">
      <Skeleton label={text.tool.loading} />
    </div>
  );
}
