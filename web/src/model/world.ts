/**
 * Everything the app knows, and how each frame from the relay changes it.
 *
 * Pure: frames and the person's own acts come in, the next world and requests to be sent come out. Events of the
 * conversation on the screen are folded into its transcript; of all others only what a person must know: state,
 * decisions, unread.
 */
import type {
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
import { type DecidedList, foldDecided, resultDecided } from "./decided";
import { changeDecision, closed, type Decisions, foldDecisions, forgetConversation, without } from "./decisions";
import {
  allOffline,
  changeConversation,
  type Fleet,
  find,
  onDevices,
  onList,
  onPylonStatus,
  onStatus,
  onTasks,
} from "./fleet";
import { extendBack, openWith } from "./history";
import { afterLoss, changeOutgoing, dropOutgoing, type Outbox } from "./outbox";
import { type Refusal, refusalOf } from "./refusal";
import { blockOf, EMPTY, fold, type Transcript } from "./transcript";

export interface World {
  me: Device | null;
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
  /** Problems that belong to no place of their own; the newest last. */
  notices: readonly Notice[];
}

export interface Notice extends Refusal {
  id: number;
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
  notices: [],
};

/** What has to be asked of the machines, or sent to them now that they are there. */
export type Ask = { type: "list" } | { type: "select"; conversationId: string } | { type: "flush" };

export interface Turned {
  world: World;
  asks: Ask[];
}

export type Frame = (PylonToApp | RelayToDevice) & { from?: Sender };

/** Most transcripts kept; the oldest unseen one goes. */
const KEPT_TRANSCRIPTS = 8;
const KEPT_NOTICES = 3;

export function onFrame(world: World, frame: Frame, now: number): Turned {
  switch (frame.type) {
    case "device_status":
    case "device_list":
      return onPresence(world, frame.payload.devices);
    case "workspace_list_result": {
      const next = onWorkspaces(world, onList(world.fleet, frame.payload, now));
      return flushing(world, reselect(world, next));
    }
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
      const decided = resultDecided(world.decided, world.decisions, frame.payload, world.me?.deviceId, now);
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
    case "error":
      return same(onError(world, frame.payload));
    default:
      return same(world);
  }
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
export function onOnline(world: World, me: Device | null): Turned {
  return { world: { ...world, me }, asks: [{ type: "list" }] };
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

export function notice(world: World, refusal: Refusal): World {
  const id = (world.notices.at(-1)?.id ?? 0) + 1;
  return { ...world, notices: [...world.notices, { id, ...refusal }].slice(-KEPT_NOTICES) };
}

function onPresence(world: World, devices: readonly ConnectedDevice[]): Turned {
  const fleet = onDevices(world.fleet, devices);
  const isBack = fleet.some((machine) => machine.isOnline && !isOnline(world.fleet, machine.deviceId));
  const next = unconfirmed({ ...world, devices, fleet }, (id) => isOnline(world.fleet, id) && !isOnline(fleet, id));
  const { world: after, asks } = flushing(world, reselect(world, next));
  return { world: after, asks: isBack ? [{ type: "list" }, ...asks] : asks };
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
    // The Pylon repeats what is open after the page; a card that it does not repeat is gone.
    decisions: forgetConversation(world.decisions, id),
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

function onEvent(world: World, message: ClaudeEventMessage, deviceId: number | undefined, now: number): Turned {
  const { conversationId, workspaceId, event } = message;
  const owner = find(world.fleet, conversationId)?.machine.deviceId;
  // A machine speaks for its own conversations alone.
  if (owner !== undefined && deviceId !== undefined && owner !== deviceId) return same(world);
  const origin = { deviceId: deviceId ?? owner ?? 0, workspaceId, conversationId };
  const told: World = {
    ...world,
    decisions: foldDecisions(world.decisions, origin, event, message.timestamp ?? now),
    decided: foldDecided(world.decided, world.decisions, conversationId, event, now),
    outbox: event.type === "userMessage" ? dropOutgoing(world.outbox, event.clientMessageId) : world.outbox,
    fleet:
      event.type === "state"
        ? onStatus(world.fleet, { deviceId: origin.deviceId, conversationId, status: event.state }, now)
        : world.fleet,
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
