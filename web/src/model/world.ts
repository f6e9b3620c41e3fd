/**
 * Everything the app knows, and how each frame from the relay changes it.
 *
 * Pure: frames and the person's own acts come in, the next world and requests to be sent come out. Events of the
 * conversation on the screen are folded into its transcript; of all others only what a person must know: state,
 * decisions, unread.
 */
import type {
  ClaudeEvent,
  ClaudeEventMessage,
  ConnectedDevice,
  Device,
  ErrorCode,
  ErrorReport,
  HistoryResult,
  PylonToApp,
  RelayToDevice,
  Sender,
} from "@/gen";
import { type Decided, type DecidedList, foldDecided, resultDecided } from "./decided";
import {
  changeDecision,
  closed,
  type Decisions,
  foldDecisions,
  forgetConversation,
  settled,
  without,
} from "./decisions";
import {
  allOffline,
  changeConversation,
  type Fleet,
  find,
  onDevices,
  onLimits,
  onList,
  onMade,
  onPylonStatus,
  onState,
  onStatus,
  onTasks,
  onWorkspaceMade,
} from "./fleet";
import { extendBack, openWith } from "./history";
import { type Notices, notice, warnOfBudget } from "./notices";
import { afterLoss, changeOutgoing, dropOutgoing, type Outbox } from "./outbox";
import { refusalOf } from "./refusal";
import { blockOf, EMPTY, fold, type Transcript } from "./transcript";

export interface World {
  me: Device | null;
  /** Names this device on every connection, once the relay has said so. */
  myKey?: string;
  devices: readonly ConnectedDevice[];
  fleet: Fleet;
  transcripts: Readonly<Record<string, Transcript>>;
  /** The conversation on the screen. */
  viewing: string | null;
  /** Events of the viewed conversation that came before its page of history. */
  early: readonly ClaudeEventMessage[];
  decisions: Decisions;
  decided: DecidedList;
  outbox: Outbox;
  /** Which conversations go on by themselves when a limit is over, as far as it was told. */
  continuations: Readonly<Record<string, Continuation>>;
  notices: Notices;
}

export interface Continuation {
  isEnabled: boolean;
  /** When it goes on, if it waits for that. */
  at?: number;
  /** Why it last did not go on. */
  failure?: string;
}

export const EMPTY_WORLD: World = {
  me: null,
  devices: [],
  fleet: [],
  transcripts: {},
  viewing: null,
  early: [],
  decisions: [],
  decided: [],
  outbox: [],
  continuations: {},
  notices: [],
};

/** What has to be asked of the machines, or sent to them now that they are there. */
export type Ask =
  | { type: "list" }
  | { type: "select"; conversationId: string }
  | { type: "flush" }
  /** To be told in a moment (`onSettled`) that the machine has said what is open in a conversation. */
  | { type: "settle"; conversationId: string; at: number };

export interface Turned {
  world: World;
  asks: Ask[];
}

export type Frame = (PylonToApp | RelayToDevice) & { from?: Sender };

/** Most transcripts kept; the oldest unseen one goes. */
const KEPT_TRANSCRIPTS = 8;

export function onFrame(world: World, frame: Frame, now: number): Turned {
  switch (frame.type) {
    case "device_status":
    case "device_list":
      return onPresence(world, frame.payload.devices);
    case "workspace_list_result": {
      const next = onWorkspaces(world, onList(world.fleet, frame.payload, now));
      return flushing(world, reselect(world, next));
    }
    case "conversation_create_result":
      return reselect(world, { ...world, fleet: onMade(world.fleet, frame.payload, now) });
    case "workspace_create_result":
      return reselect(world, { ...world, fleet: onWorkspaceMade(world.fleet, frame.payload) });
    case "conversation_status": {
      const { conversationId, status } = frame.payload;
      const decisions = status === "permission" ? world.decisions : forgetConversation(world.decisions, conversationId);
      return same({ ...world, fleet: onStatus(world.fleet, viewed(world, frame.payload), now), decisions });
    }
    case "task_list_result":
      return same({ ...world, fleet: onTasks(world.fleet, frame.payload) });
    case "pylon_status":
      return same({ ...world, fleet: onPylonStatus(world.fleet, frame.payload) });
    case "history_result":
      return onHistory(world, frame.payload, now);
    case "claude_event":
      return onEvent(world, frame.payload, frame.from?.deviceId ?? frame.payload.deviceId, now);
    case "claude_send_result":
      return same(onSendResult(world, frame.payload));
    case "claude_permission_result":
    case "claude_answer_result": {
      const { success, errorCode } = frame.payload;
      const decided = resultDecided(world.decided, world.decisions, frame.payload, meAs(world), now);
      if (
        success ||
        errorCode === "already_answered" ||
        errorCode === "decision_void" ||
        errorCode === "unknown_decision"
      ) {
        return same({ ...world, decided, decisions: closed(world.decisions, frame.payload) });
      }
      return same({
        ...world,
        decisions: changeDecision(world.decisions, frame.payload, { sent: false, refusal: refusalOf(frame.payload) }),
      });
    }
    case "claude_control_result": {
      const { action, success, conversationId } = frame.payload;
      if (action !== "clear" || !success || conversationId !== world.viewing) return same(world);
      return selecting(withTranscript(world, conversationId, EMPTY), conversationId);
    }
    case "claude_set_permission_mode_result": {
      const { conversationId, mode, success } = frame.payload;
      if (!success || !conversationId) return same(world);
      return same({
        ...world,
        fleet: changeConversation(world.fleet, conversationId, (one) => ({ ...one, permissionMode: mode })),
      });
    }
    case "claude_set_model_result": {
      const { conversationId, model, success } = frame.payload;
      return success
        ? same({ ...world, fleet: changeConversation(world.fleet, conversationId, (one) => ({ ...one, model })) })
        : same(world);
    }
    case "continuation_set_result":
    case "continuation_status": {
      const { conversationId, enabled: isEnabled, at, failure } = frame.payload;
      if ("success" in frame.payload && !frame.payload.success) return same(world);
      return same({
        ...world,
        continuations: { ...world.continuations, [conversationId]: { isEnabled, at, failure } },
      });
    }
    case "budget_warning":
      return same(warnOfBudget(world, frame.payload));
    case "error":
      return same(onError(world, frame.payload));
    default:
      return same(world);
  }
}

/** This device, as it stands with what it says and answers. */
function meAs({ me, myKey }: World): Pick<Decided, "deviceId" | "author"> {
  return {
    deviceId: me?.deviceId,
    author: myKey === undefined ? undefined : { deviceKey: myKey, name: me?.name ?? "" },
  };
}

/** The person opens a conversation, or none. */
export function view(world: World, conversationId: string | null): Turned {
  if (conversationId === null) return same({ ...world, viewing: null, early: [] });
  const known = world.transcripts[conversationId] ?? EMPTY;
  const transcripts = keep({ ...world.transcripts, [conversationId]: { ...known, load: "loading" } }, conversationId);
  const fleet = changeConversation(world.fleet, conversationId, (one) => ({ ...one, unread: false }));
  return {
    world: { ...world, fleet, transcripts, viewing: conversationId, early: [] },
    asks: [{ type: "select", conversationId }],
  };
}

/** The connection stands: what we know may be old, so everything is asked anew. */
export function onOnline(world: World, me: Device | null, myKey?: string): Turned {
  return { world: { ...world, me, myKey }, asks: [{ type: "list" }] };
}

/** The connection is gone: what is shown stays, as old. */
export function onOffline(world: World): World {
  return unconfirmed({ ...world, fleet: allOffline(world.fleet) }, () => true);
}

/** Nobody knows whether machines that are gone got what was sent to them: messages wait again, answers can be given again. */
function unconfirmed(world: World, isGone: (deviceId: number) => boolean): World {
  const decisions = world.decisions.map((one) => (one.sent && isGone(one.deviceId) ? { ...one, sent: false } : one));
  return { ...world, outbox: afterLoss(world.outbox, isGone), decisions };
}

/** A refusal that belongs to no request. What could not be delivered is where the person left it, and says so itself. */
function onError(world: World, error: ErrorReport): World {
  if (error.errorCode !== "undeliverable") return notice(world, refusalOf(error));
  const refusal = { code: "offline" as const, words: "" };
  const decisions = world.decisions.map((one) => (one.sent ? { ...one, sent: false, refusal } : one));
  if (error.about === "claude_permission" || error.about === "claude_answer") return { ...world, decisions };
  if (error.about === "claude_send") return { ...world, outbox: afterLoss(world.outbox, () => true) };
  return notice(world, refusalOf(error));
}

function onPresence(world: World, devices: readonly ConnectedDevice[]): Turned {
  const fleet = onDevices(world.fleet, devices);
  // What was there under another connection was away in between, whether or not anybody said so.
  const before = { ...world, fleet: withoutRestarted(world, devices) };
  const isBack = fleet.some((machine) => machine.isOnline && !isOnline(before.fleet, machine.deviceId));
  const isGone = (id: number) => isOnline(world.fleet, id) && !(isOnline(fleet, id) && isOnline(before.fleet, id));
  const next = unconfirmed({ ...world, devices, fleet }, isGone);
  const { world: after, asks } = flushing(before, reselect(before, next));
  return { world: after, asks: isBack ? [{ type: "list" }, ...asks] : asks };
}

/** The machines as they were, without those that connected anew since then. */
function withoutRestarted(world: World, devices: readonly ConnectedDevice[]): Fleet {
  const since = new Map(world.devices.map((device) => [device.deviceId, device.connectedAt]));
  const isAnew = ({ deviceId, connectedAt }: ConnectedDevice) =>
    since.has(deviceId) && since.get(deviceId) !== connectedAt;
  const restarted = new Set(devices.filter(isAnew).map((device) => device.deviceId));
  if (restarted.size === 0) return world.fleet;
  return world.fleet.map((one) => (restarted.has(one.deviceId) ? { ...one, isOnline: false } : one));
}

/** Messages that wait go out as soon as their machine is there. */
function flushing(before: World, { world, asks }: Turned): Turned {
  const isReady = world.outbox.some(
    ({ state, deviceId }) =>
      state === "waiting" && isOnline(world.fleet, deviceId) && !isOnline(before.fleet, deviceId),
  );
  return { world, asks: isReady ? [...asks, { type: "flush" }] : asks };
}

/** Reads the viewed conversation again as soon as its machine can be reached again. */
function reselect(before: World, after: World): Turned {
  const id = after.viewing;
  const place = id === null ? undefined : find(after.fleet, id);
  if (id === null || !place?.machine.isOnline) return same(after);
  if (find(before.fleet, id) && isOnline(before.fleet, place.machine.deviceId)) return same(after);
  return selecting(after, id);
}

function selecting(world: World, conversationId: string): Turned {
  const transcript = { ...(world.transcripts[conversationId] ?? EMPTY), load: "loading" as const };
  return {
    world: { ...withTranscript(world, conversationId, transcript), early: [] },
    asks: [{ type: "select", conversationId }],
  };
}

/** The conversation that is shown waits for its newest page, as if it had just been selected. */
export function reloading(world: World): World {
  return world.viewing ? selecting(world, world.viewing).world : world;
}

function isOnline(fleet: Fleet, deviceId: number): boolean {
  return fleet.some((machine) => machine.deviceId === deviceId && machine.isOnline);
}

/** A fresh list also tells which decisions cannot be open any more. */
function onWorkspaces(world: World, fleet: Fleet): World {
  const viewing = world.viewing;
  const seen = viewing ? changeConversation(fleet, viewing, (one) => ({ ...one, unread: false })) : fleet;
  const decisions = without(world.decisions, (one) => {
    const place = find(seen, one.conversationId);
    return place !== undefined && place.conversation.status !== "permission";
  });
  return { ...world, fleet: seen, decisions };
}

function onHistory(world: World, page: HistoryResult, now: number): Turned {
  const id = page.conversationId;
  const known = world.transcripts[id] ?? EMPTY;
  // Older pages are asked for by name; the answer to selecting a conversation has none.
  if (page.requestId !== undefined || known.load !== "loading")
    return same(withTranscript(world, id, extendBack(known, page)));
  const transcript = openWith(known, page, now);
  const shown = new Set(
    transcript.entries.top.map((entry) => (entry.kind === "user" ? entry.clientMessageId : undefined)),
  );
  const cleared: World = {
    ...withTranscript(world, id, transcript),
    early: [],
    // Where nobody is needed nothing is open; else the Pylon says after the page what is.
    decisions: isNeeded(page) ? world.decisions : forgetConversation(world.decisions, id),
    outbox: world.outbox.filter((one) => !shown.has(one.clientMessageId)),
  };
  return world.early.reduce<Turned>(
    (turned, event) => {
      const next = onEvent(turned.world, event, event.deviceId, now);
      return { world: next.world, asks: [...turned.asks, ...next.asks] };
    },
    { world: cleared, asks: [] },
  );
}

/** The page says whether somebody is needed; one that says nothing is no reason to take a card away. */
function isNeeded({ currentStatus }: HistoryResult): boolean {
  return currentStatus === undefined || currentStatus === "permission";
}

/** The machine had the time to name what is open in a conversation. */
export function onSettled(world: World, conversationId: string, at: number): World {
  return { ...world, decisions: settled(world.decisions, conversationId, at) };
}

function onEvent(world: World, message: ClaudeEventMessage, deviceId: number | undefined, now: number): Turned {
  const turned = onTold(world, message, deviceId, now);
  const { conversationId } = message;
  const isDoubted = turned.world.decisions.some(
    (one) => one.conversationId === conversationId && one.doubtedAt === now,
  );
  if (message.event.type !== "state" || !isDoubted) return turned;
  return { ...turned, asks: [...turned.asks, { type: "settle", conversationId, at: now }] };
}

function onTold(world: World, message: ClaudeEventMessage, deviceId: number | undefined, now: number): Turned {
  const { conversationId, workspaceId, event } = message;
  const owner = find(world.fleet, conversationId)?.machine.deviceId;
  // A machine speaks for its own conversations alone.
  if (owner !== undefined && deviceId !== undefined && owner !== deviceId) return same(world);
  const origin = { deviceId: deviceId ?? owner ?? 0, workspaceId, conversationId };
  const repeatedAt = message.seq === undefined ? now : undefined;
  const told: World = {
    ...world,
    decisions: foldDecisions(world.decisions, origin, event, { at: message.timestamp ?? now, repeatedAt }),
    decided: foldDecided(world.decided, world.decisions, conversationId, event, now),
    outbox: event.type === "userMessage" ? dropOutgoing(world.outbox, event.clientMessageId) : world.outbox,
    fleet: fleetAfter(world.fleet, event, origin, now),
  };
  if (conversationId !== world.viewing) return same(told);
  const transcript = told.transcripts[conversationId] ?? EMPTY;
  if (transcript.load === "loading") return same({ ...told, early: [...told.early, message] });
  const folded = fold(transcript, message, now);
  if (folded.outcome === "gap") {
    const missed = event.type === "text" || event.type === "thinking" ? blockOf(event) : transcript.missed;
    const again = { ...transcript, load: "loading" as const, missed };
    const waiting = withTranscript(
      { ...told, early: message.seq === undefined ? [] : [message] },
      conversationId,
      again,
    );
    return { world: waiting, asks: [{ type: "select", conversationId }] };
  }
  return same(withTranscript(told, conversationId, folded.transcript));
}

/** What an event says of its conversation and machine, whoever looks at which conversation. */
function fleetAfter(
  fleet: Fleet,
  event: ClaudeEvent,
  { deviceId, conversationId }: { deviceId: number; conversationId: string },
  now: number,
): Fleet {
  if (event.type === "state") return onState(fleet, conversationId, event.state, now);
  return event.type === "limits" ? onLimits(fleet, deviceId, event.limits) : fleet;
}

function onSendResult(
  world: World,
  result: { success: boolean; clientMessageId?: string; error?: string; errorCode?: ErrorCode },
): World {
  const id = result.clientMessageId;
  if (id === undefined) return world;
  if (result.success)
    return { ...world, outbox: changeOutgoing(world.outbox, id, { state: "accepted", refusal: undefined }) };
  return { ...world, outbox: changeOutgoing(world.outbox, id, { state: "failed", refusal: refusalOf(result) }) };
}

/** What is on the screen is read. */
function viewed<T extends { conversationId: string; unread?: boolean }>(world: World, update: T): T {
  return update.conversationId === world.viewing ? { ...update, unread: false } : update;
}

function withTranscript(world: World, conversationId: string, transcript: Transcript): World {
  return { ...world, transcripts: { ...world.transcripts, [conversationId]: transcript } };
}

/** Objects keep the order of insertion, so the first keys are those opened longest ago. */
function keep(transcripts: Record<string, Transcript>, newest: string): Record<string, Transcript> {
  const { [newest]: current, ...others } = transcripts;
  const kept = Object.entries(others).slice(-(KEPT_TRANSCRIPTS - 1));
  return current ? { ...Object.fromEntries(kept), [newest]: current } : Object.fromEntries(kept);
}

function same(world: World): Turned {
  return { world, asks: [] };
}
