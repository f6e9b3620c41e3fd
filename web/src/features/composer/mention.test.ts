import { expect, it } from "vitest";
import type { FileEntry } from "@/gen";
import { fittingFiles, mentionAt, withMention } from "./mention";

const file = (name: string): FileEntry => ({ name, kind: "file" });
const folder = (name: string): FileEntry => ({ name, kind: "folder" });
const at = (value: string) => mentionAt(value, value.length);

it("is there only behind an @ that begins a word", () => {
  expect(at("@")).toEqual({ from: 0, folder: "", part: "" });
  expect(at("see @src/li")).toEqual({ from: 4, folder: "src/", part: "li" });
  expect(at("(@src/a/b.rs")).toEqual({ from: 1, folder: "src/a/", part: "b.rs" });
  expect(at('read @"my notes/pl')).toEqual({ from: 5, folder: "my notes/", part: "pl" });
  for (const other of ["mail me@example.com", "@src done", "", "@a@b", '@"closed" ']) expect(at(other)).toBeNull();
  expect(mentionAt("@src later", 4)).toEqual({ from: 0, folder: "", part: "src" });
});

it("never looks outside the folder", () => {
  for (const path of ["@/etc/pa", "@../other/", "@src/../../x", "@https://x"]) expect(at(path)).toBeNull();
});

it("puts those first that begin with it, folders before files, hidden ones only when asked for", () => {
  const entries = [file("relay.rs"), folder("src"), file("README.md"), folder("re"), file(".env"), folder(".git")];
  expect(fittingFiles(entries, "re").map(({ name }) => name)).toEqual(["re", "README.md", "relay.rs"]);
  expect(fittingFiles(entries, "").map(({ name }) => name)).toEqual(["re", "src", "README.md", "relay.rs"]);
  expect(fittingFiles(entries, ".").map(({ name }) => name)).toContain(".env");
  expect(fittingFiles(entries, "adme").map(({ name }) => name)).toEqual(["README.md"]);
  expect(fittingFiles(entries, "zzz")).toEqual([]);
});

it("writes the name, goes on into folders, and quotes what has spaces", () => {
  const choose = (value: string, entry: FileEntry, caret = value.length) => {
    const mention = mentionAt(value, caret);
    return mention && withMention(value, caret, mention, entry);
  };
  expect(choose("see @src/li", file("link.rs"))).toEqual({ value: "see @src/link.rs ", caret: 17 });
  expect(choose("@s", folder("src"))).toEqual({ value: "@src/", caret: 5 });
  expect(choose("@my", folder("my notes"))).toEqual({ value: '@"my notes/', caret: 11 });
  expect(choose('@"my notes/pl', file("plan b.md"))).toEqual({ value: '@"my notes/plan b.md" ', caret: 22 });
  expect(choose("@re and more", file("relay.rs"), 3)).toEqual({ value: "@relay.rs and more", caret: 10 });
});
