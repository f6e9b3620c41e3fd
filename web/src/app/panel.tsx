/**
 * The panel beside a conversation: changes, files, tasks, terminals, usage, each the view it also is by itself.
 *
 * It has an address of its own, so that a terminal opens in it and not in the place of the conversation; ways that lead
 * out of it lead on in the page. A tablet lays it over the conversation.
 */
import { ChartNoAxesColumn, FileDiff, FolderTree, ListTodo, type LucideIcon, SquareTerminal, X } from "lucide-react";
import { type KeyboardEvent, Suspense, useCallback, useEffect, useRef } from "react";
import { type BaseLocationHook, Route, Router, Switch } from "wouter";
import { navigate } from "wouter/use-hash-location";
import { PANEL_NARROWEST, PANEL_TABS, PANEL_WIDEST, type PanelTab, panelPath, panelTab } from "@/model/panel";
import { hidePanel, usePanel } from "@/store/panel";
import { changeSettings, useSettings } from "@/store/settings";
import { useSize } from "@/store/size";
import { useText } from "@/store/text";
import { Beside } from "@/ui/beside";
import { Boundary } from "@/ui/boundary";
import { IconButton } from "@/ui/button";
import { panelNames } from "@/ui/label";
import { Resizer } from "@/ui/resizer";
import { brokenPart } from "./broken";
import { Coming, decoded, FolderScreen, TerminalScreen, TerminalsScreen, UsageScreen, Work } from "./views";

const ICONS: Record<PanelTab, LucideIcon> = {
  changes: FileDiff,
  files: FolderTree,
  tasks: ListTodo,
  terminal: SquareTerminal,
  usage: ChartNoAxesColumn,
};

export function Panel({ conversationId }: { conversationId: string }) {
  const text = useText();
  const isOver = useSize() === "tablet";
  const width = useSettings((settings) => settings.panelWidth);
  const tab = useSettings((settings) => settings.panelTab);
  const place = isOver
    ? "slide fixed inset-y-0 right-0 z-40 w-[min(560px,86vw)] border-l border-line-strong"
    : "relative min-w-0 border-l border-line";
  return (
    <>
      {isOver && <div aria-hidden="true" onClick={hidePanel} className="fixed inset-0 z-30 bg-[rgb(5_6_10/55%)]" />}
      <aside
        id="panel"
        aria-label={text.panel.title}
        style={isOver ? undefined : { width }}
        onKeyDown={leave}
        className={`flex flex-col bg-surface safe-top ${place}`}
      >
        {!isOver && (
          <Resizer
            label={text.panel.resize}
            side="left"
            width={width}
            narrowest={PANEL_NARROWEST}
            widest={PANEL_WIDEST}
            set={(panelWidth) => changeSettings({ panelWidth })}
          />
        )}
        <div className="flex items-center gap-1 border-b border-line py-1.5 pr-2 pl-2">
          <Tabs tab={tab} />
          <IconButton label={`${text.nav.close} (Alt P)`} onClick={hidePanel}>
            <X size={17} />
          </IconButton>
        </div>
        <div
          id="panel-view"
          role="tabpanel"
          aria-labelledby={`panel-${tab}`}
          className="@container min-h-0 flex-1 bg-bg"
        >
          <Boundary of={tab} broken={brokenPart}>
            <Inside conversationId={conversationId} tab={tab} />
          </Boundary>
        </div>
      </aside>
    </>
  );
}

/** Escape leaves the panel, unless something in it has a use for it. */
function leave(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "Escape" || event.defaultPrevented || !(event.target instanceof Element)) return;
  if (!event.target.closest("dialog, [role=menu], .xterm, input, textarea, select")) hidePanel();
}

function Tabs({ tab }: { tab: PanelTab }) {
  const text = useText();
  const names = panelNames(text);
  const list = useRef<HTMLDivElement>(null);
  const isWanted = usePanel((panel) => panel.isWanted);
  useEffect(() => {
    if (!isWanted) return;
    usePanel.setState({ isWanted: false });
    list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  }, [isWanted]);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const all = [...(list.current?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
    const at = all.indexOf(event.target as HTMLElement);
    all[(at + by + all.length) % all.length]?.focus();
  };
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={text.panel.title}
      onKeyDown={onKeyDown}
      className="@container flex min-w-0 flex-1 gap-0.5 overflow-x-auto"
    >
      {PANEL_TABS.map((one) => {
        const Icon = ICONS[one];
        const isChosen = one === tab;
        return (
          <button
            key={one}
            id={`panel-${one}`}
            type="button"
            role="tab"
            aria-selected={isChosen}
            aria-controls="panel-view"
            tabIndex={isChosen ? 0 : -1}
            onClick={() => changeSettings({ panelTab: one })}
            className={`flex min-h-11 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-[13px] focus-visible:-outline-offset-2 lg:min-h-8 ${isChosen ? "bg-accent-soft font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink"}`}
          >
            <Icon size={15} className="hidden shrink-0 @lg:inline" />
            {names[one]}
          </button>
        );
      })}
    </div>
  );
}

function Inside({ conversationId, tab }: { conversationId: string; tab: PanelTab }) {
  const terminal = usePanel((panel) => panel.terminal);
  const path = (tab === "terminal" ? terminal : null) ?? panelPath(tab, conversationId);
  const go = useCallback(
    (to: string, options?: { replace?: boolean }) => {
      const wanted = panelTab(to, conversationId);
      if (wanted === null) {
        // What it leads to would lie under it.
        usePanel.setState({ isOver: false });
        return navigate(to, options);
      }
      changeSettings({ panelTab: wanted });
      if (wanted === "terminal") usePanel.setState({ terminal: to === "/terminals" ? null : to });
    },
    [conversationId],
  );
  const hook: BaseLocationHook = useCallback(() => [path, go], [path, go]);
  return (
    <Router hook={hook} hrefs={(href) => `#${href}`}>
      <Beside value={true}>
        <Suspense fallback={<Coming />}>
          <Switch>
            <Route path="/c/:id/:tab">
              {({ id, tab: one }) => (
                <FolderScreen key={id + one} id={decoded(id)} tab={one === "files" ? "files" : "changes"} />
              )}
            </Route>
            <Route path="/work" component={Work} />
            <Route path="/terminals" component={TerminalsScreen} />
            <Route path="/terminals/:device/:id">
              {({ device, id }) => (
                <TerminalScreen key={`${device} ${id}`} deviceId={Number(device)} terminalId={decoded(id)} />
              )}
            </Route>
            <Route path="/usage" component={UsageScreen} />
          </Switch>
        </Suspense>
      </Beside>
    </Router>
  );
}
