/** Terminals of machines: they are listed, opened and closed here, and looked at over the same relay as everything else. */
import { freshId } from "@/api/fresh-id";
import type { ErrorCode, Terminal, TerminalEnded, TerminalSize } from "@/gen";
import type { Place } from "@/model/fleet";
import type { Refusal } from "@/model/refusal";
import { pieces } from "@/model/terminals";
import type { Frame } from "@/model/world";
import { ask, listen, sendTo } from "./app";

/** Before anybody looks. Whoever looks brings the size of their own screen. */
const FIRST_SIZE: TerminalSize = { cols: 80, rows: 24 };

export function listTerminals(deviceId: number): Promise<Terminal[]> {
  return ask(
    deviceId,
    (requestId) => ({ type: "terminal_list", payload: { requestId } }),
    (frame) => (frame.type === "terminal_list_result" ? { value: frame.payload.terminals } : null),
  );
}

/** A name for a terminal that is to be: asking twice with the same opens one. */
export function newTerminalId(): string {
  return `t-${freshId().replaceAll("-", "").slice(0, 12)}`;
}

export function openShell(deviceId: number, workspaceId: string, terminalId: string): Promise<Terminal> {
  return open(deviceId, { kind: "shell", workspaceId, terminalId });
}

/** The agent's own interface on a conversation, which the chat lends until the terminal ends. */
export function openAgent({ machine, conversation }: Place, terminalId: string): Promise<Terminal> {
  const { conversationId } = conversation;
  return open(machine.deviceId, { kind: "agent", conversationId, terminalId });
}

function open(
  deviceId: number,
  wanted: { kind: "shell" | "agent"; workspaceId?: string; conversationId?: string; terminalId: string },
): Promise<Terminal> {
  return ask(
    deviceId,
    (requestId) => ({ type: "terminal_create", payload: { ...wanted, size: FIRST_SIZE, requestId } }),
    (frame) =>
      frame.type === "terminal_create_result" && frame.payload.terminal ? { value: frame.payload.terminal } : null,
  );
}

/** Ends a terminal and everything in it. */
export function closeTerminal(deviceId: number, terminalId: string): Promise<void> {
  return ask(deviceId, (requestId) => ({ type: "terminal_close", payload: { terminalId, requestId } }));
}

/** Who is told what a terminal shows. */
export interface Watcher {
  attached(terminal: Terminal): void;
  /** Shows a piece; with a size it is the whole screen. `done` is called when it is on the screen. */
  output(data: string, screen: TerminalSize | undefined, done: () => void): void;
  ended(how: Pick<TerminalEnded, "state" | "exitCode" | "signal">): void;
  refused(refusal: Refusal): void;
}

/** One look at a terminal, from attaching to looking away. */
export interface Look {
  type(data: string): void;
  paste(data: string): void;
  resize(size: TerminalSize): void;
  leave(): void;
}

/** Begins to look. Nothing that comes between the answer and the first screen is lost. */
export function watch(deviceId: number, terminalId: string, size: TerminalSize | undefined, watcher: Watcher): Look {
  let isOver = false;
  const stop = listen((frame) => !isOver && onFrame(frame, { deviceId, terminalId, watcher }));
  ask(
    deviceId,
    (requestId) => ({ type: "terminal_attach", payload: { terminalId, size, requestId } }),
    (frame) => (frame.type === "terminal_attach_result" ? { value: frame.payload.terminal } : null),
  ).then(
    (terminal) => !isOver && terminal && watcher.attached(terminal),
    (error: Error & { code?: ErrorCode }) => isOver || watcher.refused({ code: error.code, words: error.message }),
  );
  const input = (data: string, paste?: true) => {
    for (const piece of pieces(data)) {
      const isSent = sendTo(deviceId, { type: "terminal_input", payload: { terminalId, data: piece, paste } });
      if (!isSent) watcher.refused({ code: "offline", words: "" });
    }
  };
  return {
    type: (data) => input(data),
    paste: (data) => input(data, true),
    resize: (next) => void sendTo(deviceId, { type: "terminal_resize", payload: { terminalId, size: next } }),
    leave: () => {
      if (isOver) return;
      isOver = true;
      stop();
      sendTo(deviceId, { type: "terminal_detach", payload: { terminalId } });
    },
  };
}

interface Looked {
  deviceId: number;
  terminalId: string;
  watcher: Watcher;
}

function onFrame(frame: Frame, { deviceId, terminalId, watcher }: Looked): boolean {
  // A machine speaks for its own terminals alone.
  if (frame.from !== undefined && frame.from.deviceId !== deviceId) return false;
  switch (frame.type) {
    case "terminal_output": {
      if (frame.payload.terminalId !== terminalId) return false;
      const { data, screen, frame: number } = frame.payload;
      const shown = () => sendTo(deviceId, { type: "terminal_ack", payload: { terminalId, frame: number } });
      watcher.output(data, screen, shown);
      return true;
    }
    case "terminal_ended":
      if (frame.payload.terminalId !== terminalId) return false;
      watcher.ended(frame.payload);
      return true;
    case "error": {
      const { about, error, errorCode } = frame.payload;
      if (!about?.startsWith("terminal_")) return false;
      // What a look that is gone would still have acknowledged concerns nobody.
      if (about !== "terminal_ack") watcher.refused({ code: errorCode, words: error });
      return true;
    }
    default:
      return false;
  }
}
