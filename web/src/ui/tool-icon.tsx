/** The sign of a tool, by what it does. */
import {
  Bot,
  FilePen,
  FilePlus,
  FileText,
  Globe,
  ListTodo,
  MessageCircleQuestion,
  Plug,
  Search,
  SquareTerminal,
  Waypoints,
  Wrench,
} from "lucide-react";
import type { ToolView } from "@/model/tools";

const ICONS = {
  command: SquareTerminal,
  edit: FilePen,
  write: FilePlus,
  notebook: FilePen,
  read: FileText,
  search: Search,
  fetch: Globe,
  query: Globe,
  todo: ListTodo,
  agent: Bot,
  plan: Waypoints,
  question: MessageCircleQuestion,
  mcp: Plug,
  other: Wrench,
} as const;

export function ToolIcon({ view, size = 16 }: { view: ToolView; size?: number }) {
  const Icon = ICONS[view.type];
  return <Icon size={size} aria-hidden="true" className="shrink-0" />;
}
