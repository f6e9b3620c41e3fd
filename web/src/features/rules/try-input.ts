/** From what a person types to the input of a call, as the agent would write it. Pure. */

/** The tools that can be tried, each with the field that matters to the rules. */
export const TRIED = {
  Bash: "command",
  Read: "file_path",
  Edit: "file_path",
  Write: "file_path",
  WebFetch: "url",
  WebSearch: "query",
} as const;

export type Tried = keyof typeof TRIED;

export function inputOf(tool: Tried, typed: string): Record<string, string> {
  const value = typed.trim();
  switch (tool) {
    case "Edit":
      return { file_path: value, old_string: "a", new_string: "b" };
    case "Write":
      return { file_path: value, content: "" };
    case "WebFetch":
      return { url: value, prompt: "" };
    case "Bash":
    case "Read":
    case "WebSearch":
      return { [TRIED[tool]]: value };
  }
}
