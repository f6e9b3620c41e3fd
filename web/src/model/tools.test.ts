import { describe, expect, it } from "vitest";
import { restOf, toolTarget, toolView } from "./tools";

describe("what a call is about", () => {
  it("reads the inputs of the known tools", () => {
    expect(toolView("Bash", { command: "make", run_in_background: true })).toMatchObject({
      command: "make",
      isBackground: true,
    });
    expect(toolView("Edit", { file_path: "a", old_string: "x\ny", new_string: "x\nz" })).toMatchObject({
      path: "a",
      added: 1,
      removed: 1,
    });
    expect(toolView("Read", { file_path: "a", offset: 10, limit: 5 })).toEqual({
      type: "read",
      path: "a",
      range: "10–14",
    });
    expect(toolView("mcp__linear__create_issue", {})).toMatchObject({
      type: "mcp",
      server: "linear",
      tool: "create_issue",
    });
    const todo = toolView("TodoWrite", {
      todos: [
        { content: "a", status: "completed" },
        { content: "b", status: "in_progress" },
      ],
    });
    expect(todo).toMatchObject({ type: "todo", done: 1 });
    expect(toolTarget(todo)).toBe("b");
  });

  it("sums the parts of an edit with several", () => {
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "", new_string: "c\nd", replace_all: true },
    ];
    expect(toolView("MultiEdit", { file_path: "f", edits })).toMatchObject({
      added: 3,
      removed: 1,
      parts: [{ replacesAll: false }, { replacesAll: true }],
    });
  });

  it("shows what does not fit as it is, whatever it is", () => {
    for (const input of [undefined, null, 7, "text", [], {}, { command: 7 }, { file_path: {}, old_string: [] }]) {
      for (const name of ["Bash", "Edit", "Write", "Read", "Grep", "WebFetch", "WebSearch", "Task", "NotebookEdit"]) {
        expect(toolView(name, input).type).toBe("other");
      }
    }
  });
});

describe("what a card would leave out", () => {
  it("is nothing where all of an input is shown", () => {
    const input = { command: "ls", description: "List" };
    expect(restOf(toolView("Bash", input), input)).toBeNull();
    expect(restOf(toolView("mcp__a__b", { x: 1 }), { x: 1 })).toBeNull();
  });

  it("is every field that has no form of its own", () => {
    const cell = { notebook_path: "/n.ipynb", new_source: "1", edit_mode: "delete", cell_id: "c4", cell_type: "code" };
    expect(toolView("NotebookEdit", cell)).toEqual({ type: "notebook", path: "/n.ipynb", source: "1" });
    expect(restOf(toolView("NotebookEdit", cell), cell)).toEqual({
      edit_mode: "delete",
      cell_id: "c4",
      cell_type: "code",
    });
    const read = { file_path: "/etc/passwd", offset: 3 };
    expect(restOf(toolView("Read", read), read)).toEqual({ offset: 3 });
    const run = { command: "make", timeout: 9 };
    expect(restOf(toolView("Bash", run), run)).toEqual({ timeout: 9 });
  });
});
