import { expect, it } from "vitest";
import { changesOf, hunksOf } from "./changes";
import { type Entry, NO_ENTRIES, type ToolEntry } from "./entries";

const user = (key: string): Entry => ({ key, at: 0, kind: "user", text: "" });
const over = (key: string): Entry => ({ key, at: 0, kind: "aborted", reason: "user" });
const tool = (key: string, toolName: string, input: unknown, success = true): ToolEntry => ({
  ...{ key, at: 0, kind: "tool", toolName, input, toolUseId: key },
  end: { success, output: "", at: 1 },
});
const write = (key: string, file_path: string, content: string) => tool(key, "Write", { file_path, content });
const edit = (key: string, file_path: string) =>
  tool(key, "Edit", { file_path, old_string: "a\nb\n", new_string: "a\nc\nd\n" });

it("tells the files of one turn, with what sub-agents did, and without what failed", () => {
  const entries = {
    top: [
      user("1"),
      write("w0", "/old", "x\n"),
      over("e0"),
      user("2"),
      edit("e1", "/a"),
      tool("f", "Edit", { file_path: "/failed", old_string: "", new_string: "x" }, false),
      tool("t", "Task", { description: "help" }),
      write("w1", "/a", "1\n2\n"),
      over("end"),
    ],
    below: new Map<string, Entry[]>([["t", [edit("s", "/b")]]]),
  };
  const told = changesOf(entries, "end").files.map(({ path, tools, added, removed }) => [
    path,
    tools.map((one) => one.key).join(),
    added,
    removed,
  ]);
  expect(told).toEqual([
    ["/a", "e1,w1", 4, 1],
    ["/b", "s", 2, 1],
  ]);
  expect(changesOf(entries, "e0").files.map((one) => one.path)).toEqual(["/old"]);
  expect(changesOf(entries, "nowhere").files).toEqual([]);
});

it("knows whether it has the whole turn", () => {
  const result = { key: "end", kind: "result", at: 0 } as unknown as Entry;
  const said = { key: "u", kind: "user", at: 0, text: "" } as unknown as Entry;
  const whole = (...top: Entry[]) => changesOf({ ...NO_ENTRIES, top }, "end").isWhole;
  expect(whole(said, result)).toBe(true);
  expect(whole(result)).toBe(false);
});

it("reads the hunks of a machine, and takes no line of a file for a head", () => {
  const diff = "@@ @@\n-old\n+new\n same\n@@ @@\n+@@ @@\n";
  expect(hunksOf(diff).map((hunk) => hunk.map(({ type, text }) => `${type} ${text}`))).toEqual([
    ["removed old", "added new", "same same"],
    ["added @@ @@"],
  ]);
});
