/** What may be completed in the field: a command at its beginning, or a file behind an `@`. */
import { useEffect, useState } from "react";
import type { FileEntry } from "@/gen";
import type { Place } from "@/model/fleet";
import { listFiles } from "@/store/file-acts";
import { fitting, isWhole, useCommands } from "./commands";
import { fittingFiles, mentionAt, withMention } from "./mention";

export interface Choice {
  label: string;
  kind: "command" | "folder" | "file";
  /** The field with the choice in it, and where its caret is then. */
  result: { value: string; caret: number };
}

export function useChoices(place: Place, value: string, caret: number): Choice[] {
  const { conversationId } = place.conversation;
  const commands = fitting(useCommands(conversationId, place.workspace.workspaceId), value);
  const mention = mentionAt(value, caret);
  const entries = useFolder(place, mention?.folder ?? null);
  if (mention) {
    return fittingFiles(entries, mention.part).map((entry) => ({
      label: mention.folder + entry.name,
      kind: (entry.targetKind ?? entry.kind) === "folder" ? "folder" : "file",
      result: withMention(value, caret, mention, entry),
    }));
  }
  if (isWhole(commands, value)) return [];
  return commands.map((command) => ({
    label: `/${command}`,
    kind: "command",
    result: { value: `/${command} `, caret: command.length + 2 },
  }));
}

/** The names in a folder while one of them is being typed. A folder that cannot be read offers nothing. */
function useFolder(place: Place, folder: string | null): readonly FileEntry[] {
  const [read, setRead] = useState<{ key: string; entries: readonly FileEntry[] } | null>(null);
  const { isOnline } = place.machine;
  const key = `${place.conversation.conversationId} ${folder}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the place and the folder.
  useEffect(() => {
    if (folder === null || !isOnline) return;
    let isCurrent = true;
    listFiles(place, folder.replace(/\/$/, "")).then(
      ({ entries }) => isCurrent && setRead({ key, entries }),
      () => isCurrent && setRead({ key, entries: [] }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, isOnline]);
  return folder !== null && read?.key === key ? read.entries : [];
}
