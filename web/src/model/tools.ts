/**
 * What a call of a tool is about, read from its name and input: enough for one informative line and for its card.
 *
 * Inputs come from the agent, so nothing about their shape is trusted: what does not fit is shown as it is.
 */
import { countChanges, type DiffLine, diffLines } from "./diff";

export interface TodoItem {
  text: string;
  status: "pending" | "in_progress" | "completed";
}

export interface EditPart {
  diff: DiffLine[];
  replacesAll: boolean;
}

export type ToolView =
  | { type: "command"; command: string; description?: string; isBackground: boolean; isUnsandboxed: boolean }
  | { type: "edit"; path: string; parts: EditPart[]; added: number; removed: number }
  | { type: "write"; path: string; content: string; lines: number }
  | { type: "notebook"; path: string; source: string }
  | { type: "read"; path: string; range?: string }
  | { type: "search"; what: string; where?: string; filter?: string }
  | { type: "fetch"; url: string; prompt?: string }
  | { type: "query"; query: string }
  | { type: "todo"; items: TodoItem[]; done: number }
  | { type: "agent"; description: string; agent?: string; prompt?: string }
  | { type: "plan"; plan: string }
  | { type: "question" }
  | { type: "mcp"; server: string; tool: string; input: unknown }
  | { type: "other"; input: unknown };

export function toolView(toolName: string, input: unknown): ToolView {
  const fields = record(input);
  const text = (name: string) => (typeof fields[name] === "string" ? (fields[name] as string) : undefined);
  switch (toolName) {
    case "Bash":
      return command(fields, text, input);
    case "Edit":
    case "MultiEdit":
      return edit(fields, text, input);
    case "Write": {
      const path = text("file_path");
      const content = text("content");
      if (path === undefined || content === undefined) return { type: "other", input };
      return { type: "write", path, content, lines: diffLines("", content).length };
    }
    case "NotebookEdit": {
      const path = text("notebook_path");
      return path === undefined
        ? { type: "other", input }
        : { type: "notebook", path, source: text("new_source") ?? "" };
    }
    case "Read": {
      const path = text("file_path");
      return path === undefined ? { type: "other", input } : { type: "read", path, range: range(fields) };
    }
    case "Grep":
    case "Glob": {
      const what = text("pattern");
      return what === undefined
        ? { type: "other", input }
        : { type: "search", what, where: text("path"), filter: text("glob") ?? text("type") };
    }
    case "WebFetch": {
      const url = text("url");
      return url === undefined ? { type: "other", input } : { type: "fetch", url, prompt: text("prompt") };
    }
    case "WebSearch": {
      const query = text("query");
      return query === undefined ? { type: "other", input } : { type: "query", query };
    }
    case "TodoWrite":
      return todo(fields);
    case "Task":
    case "Agent": {
      const description = text("description");
      if (description === undefined) return { type: "other", input };
      return { type: "agent", description, agent: text("subagent_type"), prompt: text("prompt") };
    }
    case "ExitPlanMode":
      return { type: "plan", plan: text("plan") ?? "" };
    case "AskUserQuestion":
      return { type: "question" };
    default:
      return mcp(toolName, input);
  }
}

/** The fields of an input that the card of a view shows in its own form. */
const SHOWN: Partial<Record<ToolView["type"], readonly string[]>> = {
  command: ["command", "description", "run_in_background", "dangerouslyDisableSandbox"],
  edit: ["file_path", "old_string", "new_string", "replace_all", "edits"],
  write: ["file_path", "content"],
  notebook: ["notebook_path", "new_source"],
  read: ["file_path"],
  fetch: ["url"],
  query: ["query"],
  plan: ["plan"],
};

/** What the card of a view would leave out of its input: nothing of it may stay unseen where somebody decides. */
export function restOf(view: ToolView, input: unknown): Record<string, unknown> | null {
  const shown = SHOWN[view.type];
  if (!shown) return null;
  const rest = Object.entries(record(input)).filter(([name]) => !shown.includes(name));
  return rest.length === 0 ? null : Object.fromEntries(rest);
}

/** No screen has a line for more. */
const LONGEST_LINE = 500;

/** The one line that stands for a call; empty if there is nothing but its name. */
export function toolTarget(view: ToolView): string {
  const line = targetOf(view);
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

function targetOf(view: ToolView): string {
  switch (view.type) {
    case "command":
      return view.command;
    case "edit":
    case "write":
    case "notebook":
    case "read":
      return view.path;
    case "search":
      return view.where ? `${view.what} · ${view.where}` : view.what;
    case "fetch":
      return view.url;
    case "query":
      return view.query;
    case "agent":
      return view.description;
    case "mcp":
      return view.server;
    case "todo":
      return view.items.find((item) => item.status === "in_progress")?.text ?? "";
    case "plan":
    case "question":
    case "other":
      return "";
  }
}

function command(
  fields: Record<string, unknown>,
  text: (name: string) => string | undefined,
  input: unknown,
): ToolView {
  const line = text("command");
  if (line === undefined) return { type: "other", input };
  return {
    type: "command",
    command: line,
    description: text("description"),
    isBackground: fields.run_in_background === true,
    isUnsandboxed: fields.dangerouslyDisableSandbox === true,
  };
}

function edit(fields: Record<string, unknown>, text: (name: string) => string | undefined, input: unknown): ToolView {
  const path = text("file_path");
  const edits = Array.isArray(fields.edits) ? fields.edits.map(record) : [fields];
  const parts: EditPart[] = [];
  for (const one of edits) {
    if (typeof one.old_string !== "string" || typeof one.new_string !== "string") return { type: "other", input };
    parts.push({ diff: diffLines(one.old_string, one.new_string), replacesAll: one.replace_all === true });
  }
  if (path === undefined) return { type: "other", input };
  const counts = parts.map((part) => countChanges(part.diff));
  const added = counts.reduce((sum, one) => sum + one.added, 0);
  const removed = counts.reduce((sum, one) => sum + one.removed, 0);
  return { type: "edit", path, parts, added, removed };
}

function todo(fields: Record<string, unknown>): ToolView {
  const list = Array.isArray(fields.todos) ? fields.todos.map(record) : [];
  const items = list.map((one): TodoItem => {
    const status = one.status === "completed" || one.status === "in_progress" ? one.status : "pending";
    return { text: typeof one.content === "string" ? one.content : "", status };
  });
  return { type: "todo", items, done: items.filter((item) => item.status === "completed").length };
}

function mcp(toolName: string, input: unknown): ToolView {
  const [mark, server, ...rest] = toolName.split("__");
  if (mark === "mcp" && server && rest.length > 0) return { type: "mcp", server, tool: rest.join("__"), input };
  return { type: "other", input };
}

function range(fields: Record<string, unknown>): string | undefined {
  const { offset, limit } = fields;
  if (typeof offset !== "number" && typeof limit !== "number") return undefined;
  const from = typeof offset === "number" ? offset : 1;
  return typeof limit === "number" ? `${from}–${from + limit - 1}` : `${from}–`;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
