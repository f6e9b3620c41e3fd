/** Conversations as a machine would have recorded them, to look at. */
import type { ClaudeEvent, HistoryMessage } from "@/gen";

type Draft = HistoryMessage extends infer Row
  ? Row extends { timestamp: number }
    ? Omit<Row, "timestamp" | "seq"> & { wait?: number }
    : never
  : never;

/** Numbers rows and spreads them over the minutes before now. */
export function record(drafts: Draft[]): HistoryMessage[] {
  const total = drafts.reduce((sum, draft) => sum + (draft.wait ?? 2_000), 0);
  let at = Date.now() - total - 60_000;
  return drafts.map(({ wait = 2_000, ...row }, index) => {
    at += wait;
    return { ...row, timestamp: at, seq: index + 1 } as HistoryMessage;
  });
}

export const RELAY_TALK = record([
  {
    type: "text",
    role: "user",
    content: "The relay drops a device when two frames arrive in the same tick. Find out why and fix it, with a test.",
    deviceId: 100,
  },
  {
    type: "text",
    role: "assistant",
    content: "I'll look at how the relay reads frames, then reproduce it in a test before changing anything.",
  },
  {
    type: "tool_start",
    toolName: "TodoWrite",
    toolUseId: "t1",
    toolInput: {
      todos: [
        { content: "Reproduce the dropped device in a test", status: "completed" },
        { content: "Find the cause in the read loop", status: "completed" },
        { content: "Fix it and run the relay's tests", status: "in_progress" },
        { content: "Note the fix in the changelog", status: "pending" },
      ],
    },
  },
  { type: "tool_complete", toolName: "TodoWrite", toolUseId: "t1", success: true, output: "" },
  {
    type: "tool_start",
    toolName: "Grep",
    toolUseId: "t2",
    toolInput: { pattern: "fn read_frame", path: "crates/relay/src", glob: "*.rs" },
  },
  {
    type: "tool_complete",
    toolName: "Grep",
    toolUseId: "t2",
    success: true,
    output:
      "crates/relay/src/link.rs:88:    async fn read_frame(&mut self) -> Result<Frame, ReadError> {\ncrates/relay/src/link.rs:140:        match self.read_frame().await {",
  },
  {
    type: "tool_start",
    toolName: "Read",
    toolUseId: "t3",
    toolInput: { file_path: "/home/mina/code/estelle/crates/relay/src/link.rs", offset: 80, limit: 80 },
  },
  {
    type: "tool_complete",
    toolName: "Read",
    toolUseId: "t3",
    success: true,
    output:
      "    /// Reads one frame, or waits for it.\n    async fn read_frame(&mut self) -> Result<Frame, ReadError> {\n        let bytes = self.stream.next().await.ok_or(ReadError::Closed)?;\n        …",
  },
  {
    type: "tool_start",
    toolName: "Task",
    toolUseId: "t4",
    toolInput: {
      description: "Check the other readers",
      subagent_type: "Explore",
      prompt: "Look for **other places** that read one frame and treat a second one in the buffer as a protocol error.",
    },
  },
  {
    type: "tool_start",
    toolName: "Glob",
    toolUseId: "t4a",
    parentToolUseId: "t4",
    toolInput: { pattern: "crates/*/src/**/link*.rs" },
  },
  {
    type: "tool_complete",
    toolName: "Glob",
    toolUseId: "t4a",
    parentToolUseId: "t4",
    success: true,
    output: "crates/relay/src/link.rs\ncrates/pylon/src/uplink.rs",
  },
  {
    type: "text",
    role: "assistant",
    parentToolUseId: "t4",
    content: "Only `relay/src/link.rs` has the pattern; `uplink.rs` drains its buffer in a loop.",
  },
  {
    type: "tool_complete",
    toolName: "Task",
    toolUseId: "t4",
    success: true,
    output: "Only relay/src/link.rs has the pattern.",
    wait: 21_000,
  },
  {
    type: "tool_start",
    toolName: "Edit",
    toolUseId: "t5",
    toolInput: {
      file_path: "/home/mina/code/estelle/crates/relay/src/link.rs",
      old_string:
        "        let bytes = self.stream.next().await.ok_or(ReadError::Closed)?;\n        if !self.buffer.is_empty() {\n            return Err(ReadError::Unexpected);\n        }\n        self.buffer.extend_from_slice(&bytes);\n",
      new_string:
        "        while !self.buffer.has_frame() {\n            let bytes = self.stream.next().await.ok_or(ReadError::Closed)?;\n            self.buffer.extend_from_slice(&bytes);\n        }\n",
    },
  },
  { type: "user_response", toolUseId: "t5", content: "allow", deviceId: 100 },
  { type: "tool_complete", toolName: "Edit", toolUseId: "t5", success: true, output: "The file has been updated." },
  {
    type: "tool_start",
    toolName: "Bash",
    toolUseId: "t6",
    toolInput: { command: "cargo test -p estelle-relay link::", description: "Run the link tests" },
  },
  {
    type: "tool_complete",
    toolName: "Bash",
    toolUseId: "t6",
    success: true,
    output:
      "running 14 tests\ntest link::tests::a_frame_in_two_pieces ... ok\ntest link::tests::two_frames_in_one_piece ... ok\n…\ntest result: ok. 14 passed; 0 failed; 0 ignored; finished in 0.41s",
    wait: 34_000,
  },
  {
    type: "text",
    role: "assistant",
    content:
      "Found it. `read_frame` treated bytes that were **already in the buffer** as a protocol error, so a second frame in the same read closed the link:\n\n```rust\nwhile !self.buffer.has_frame() {\n    let bytes = self.stream.next().await.ok_or(ReadError::Closed)?;\n    self.buffer.extend_from_slice(&bytes);\n}\n```\n\nWhat changed:\n\n1. The reader drains its buffer before it waits for more bytes.\n2. A new test, `two_frames_in_one_piece`, failed before and passes now.\n3. Nothing else has the pattern; the uplink was already right.\n\n| case | before | now |\n|---|---|---|\n| one frame per read | ok | ok |\n| two frames per read | link closed | ok |\n| frame over two reads | ok | ok |\n\nShall I also note it in the changelog? See [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455#section-5.4) for why frames may share a read.",
  },
  {
    type: "result",
    subtype: "success",
    duration_ms: 96_400,
    num_turns: 7,
    total_cost_usd: 0.1834,
    usage: { inputTokens: 2_410, outputTokens: 1_870, cacheReadInputTokens: 68_200, cacheCreationInputTokens: 4_100 },
  },
  {
    type: "text",
    role: "user",
    content: "Yes, and clean the build folder first, it is full of old artefacts.",
    deviceId: 101,
    wait: 60_000,
  },
  {
    type: "text",
    role: "assistant",
    content:
      "I'll clean the build folder, rebuild in release mode to be sure that nothing stale was used, and then write the note.",
  },
  {
    type: "tool_start",
    toolName: "Bash",
    toolUseId: "t7",
    toolInput: {
      command:
        "rm -rf target/release/build target/release/incremental && cargo build --release -p estelle-relay && ./target/release/estelle relay --check-config /home/mina/.config/estelle/relay.toml",
      description: "Clean and rebuild the relay",
    },
  },
]);

export const RELAY_ASKS: ClaudeEvent = {
  type: "permission_request",
  toolName: "Bash",
  toolUseId: "t7",
  reason: "“rm -rf” deletes files; no rule allows it.",
  toolInput: {
    command:
      "rm -rf target/release/build target/release/incremental && cargo build --release -p estelle-relay && ./target/release/estelle relay --check-config /home/mina/.config/estelle/relay.toml",
    description: "Clean and rebuild the relay",
  },
};

export const QUESTIONS: ClaudeEvent = {
  type: "askQuestion",
  toolUseId: "q1",
  questions: [
    {
      header: "Storage",
      question: "Where should sessions of the garden API be kept?",
      multiSelect: false,
      options: [
        { label: "SQLite", description: "One file, no service; enough for one machine." },
        { label: "Postgres", description: "Already used by the billing service." },
        { label: "Memory only", description: "Fastest, and gone after a restart." },
      ],
    },
    {
      header: "Extras",
      question: "What else should be part of the first version?",
      multiSelect: true,
      options: [
        { label: "Rate limits", description: "Per device and per address." },
        { label: "Audit log", description: "Who did what, kept for 90 days." },
      ],
    },
  ],
};

export const EDIT_ASKS: ClaudeEvent = {
  type: "permission_request",
  toolName: "Edit",
  toolUseId: "e1",
  toolInput: {
    file_path: "/home/mina/code/garden-api/src/routes/plants.ts",
    old_string:
      'export async function listPlants(request: Request) {\n  const plants = await db.all("SELECT * FROM plants");\n  return json(plants);\n}\n',
    new_string:
      'export async function listPlants(request: Request) {\n  const { limit, cursor } = pageOf(request);\n  const plants = await db.all("SELECT * FROM plants WHERE id > ? ORDER BY id LIMIT ?", cursor, limit);\n  return json({ plants, next: plants.at(-1)?.id ?? null });\n}\n',
  },
};

export const PLAN_ASKS: ClaudeEvent = {
  type: "permission_request",
  kind: "plan",
  toolName: "ExitPlanMode",
  toolUseId: "p1",
  toolInput: {
    plan: "## Move the photo sync to resumable uploads\n\n1. **Split** uploads into 4 MB parts with a checksum each.\n2. Keep the list of finished parts in `uploads.db`, so that a restart goes on where it was.\n3. Retry a part three times, then tell the user *which photo* is stuck.\n\n- No change to the server's API.\n- Tests: a connection cut between any two parts.",
  },
};

export const FAILED_TALK = record([
  { type: "text", role: "user", content: "Update the dependencies and run everything." },
  {
    type: "tool_start",
    toolName: "Bash",
    toolUseId: "f1",
    toolInput: { command: "npm update && npm test", run_in_background: true },
  },
  {
    type: "tool_complete",
    toolName: "Bash",
    toolUseId: "f1",
    success: false,
    output: "",
    error: 'npm ERR! code ERESOLVE\nnpm ERR! could not resolve dependency: peer react@"^18" from calendar-grid@4.2.1',
    wait: 12_000,
  },
  {
    type: "tool_start",
    toolName: "mcp__linear__create_issue",
    toolUseId: "f2",
    toolInput: { title: "calendar-grid wants react 18", team: "WEB" },
  },
  { type: "tool_complete", toolName: "mcp__linear__create_issue", toolUseId: "f2", success: true, output: "WEB-412" },
  {
    type: "tool_start",
    toolName: "WebSearch",
    toolUseId: "f3",
    toolInput: { query: "calendar-grid react 19 peer dependency" },
  },
  { type: "tool_complete", toolName: "WebSearch", toolUseId: "f3", success: true, output: "3 results" },
  { type: "error", content: "API Error: 529 overloaded. The request was tried 10 times." },
  {
    type: "result",
    subtype: "error_during_execution",
    cause: "overloaded",
    duration_ms: 41_000,
    num_turns: 3,
    total_cost_usd: 0.0212,
    usage: { inputTokens: 900, outputTokens: 210, cacheReadInputTokens: 18_000 },
  },
  { type: "claudeAborted", reason: "user" },
  { type: "system", subtype: "divider", content: "" },
  { type: "system", subtype: "resume", content: "" },
]);

export const HOSTILE_TALK = record([
  { type: "text", role: "user", content: "Show me <b>what</b> you found \u202egnp.exe" },
  {
    type: "text",
    role: "assistant",
    content:
      '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\nA [safe link](https://example.com), a [bad one](javascript:alert(1)), a [data one](data:text/html,x), and [https://bank.example](https://evil.example/login).\n\n![tracker](https://evil.example/pixel.png)\n\n```"><script>\nlet x = 1;\n```\n\nInvisible: pay\u200bpal, and <iframe srcdoc="<script>1</script>"></iframe> inline &amp; entities &lt;kept&gt;.',
  },
  {
    type: "text",
    role: "assistant",
    content: [
      '<svg onload="alert(1)"><script>alert(1)</script></svg>',
      '<math><maction actiontype="statusline" xlink:href="javascript:alert(1)">x</maction></math>',
      '<a href="https://evil.example" onclick="alert(1)">raw link</a> <form action="https://evil.example"><button>Allow once</button></form>',
      '<style>body { background: url(https://evil.example/css.png) }</style> <div style="background:url(https://evil.example/style.png)">',
      "[vb](vbscript:msgbox(1)) [file](file:///etc/passwd) [upper](JaVaScRiPt:alert(1)) [spaced](java\tscript:alert(1)) [rel](//evil.example/x) [blob](blob:https://evil.example/1)",
      "[your bank](https://bank.example@evil.example/login) [аpple.com](https://xn--pple-43d.com/)",
      "![](data:image/svg+xml;base64,PHN2Zy8+) ![a](http://169.254.169.254/latest) [![in](https://evil.example/in.png)](https://evil.example/out)",
      "<https://evil.example/auto> https://evil.example/bare",
      '[ref]: javascript:alert(1) "title"\n\nA [ref] that is defined, and ![pic][pixel].\n\n[pixel]: https://evil.example/ref.png',
      '```mermaid\ngraph TD; A["<img src=x onerror=alert(1)>"]\n```',
      "```js onload=alert(1)\nconst tidy = `\u202e} nimda fi`;\n```",
      "$$\\href{javascript:alert(1)}{x}$$",
      "> **May this run?**\n>\n> `rm -rf ~`\n>\n> [Allow once](https://evil.example/allow) | [Deny](https://evil.example/deny)\n\n- [x] <button>Allow once</button>",
    ].join("\n\n"),
  },
  {
    type: "text",
    role: "assistant",
    content: [
      `${"*".repeat(4_000)}a${"_".repeat(4_000)}`,
      `${"[".repeat(2_000)}x${"](".repeat(500)}`,
      `${"> ".repeat(400)}deep`,
      `| ${"a | ".repeat(300)}\n|${"-|".repeat(300)}\n`,
      `https://${"a.".repeat(2_000)}example`,
      "\u0430".repeat(3_000),
      `${"`".repeat(3_001)} ${"<a ".repeat(1_500)}`,
    ].join("\n\n"),
  },
  {
    type: "tool_start",
    toolName: "<img src=x onerror=alert(1)>",
    toolUseId: "h0",
    toolInput: { path: "<script>alert(1)</script>", note: "\u202egnp.exe" },
  },
  {
    type: "tool_start",
    toolName: "Edit",
    toolUseId: "h2",
    toolInput: {
      file_path: '"><img src=x onerror=alert(1)>.rs',
      old_string: "<b>",
      new_string: "<script>alert(1)</script>",
    },
  },
  {
    type: "tool_start",
    toolName: "Bash",
    toolUseId: "h1",
    toolInput: { command: "cat invoice\u202etxt.sh", description: "Show the \u202e invoice" },
  },
]);

const STREAMED =
  "Here is what I would do, step by step:\n\n1. **Read** the current schema and list what depends on it.\n2. Write a migration that can be run twice without harm.\n3. Switch the readers over, *then* the writers.\n\n```sql\nALTER TABLE plants ADD COLUMN watered_at INTEGER;\nCREATE INDEX plants_by_watered ON plants (watered_at);\n```\n\nThat keeps the service up during the change. Shall I begin?";

/** A turn of streamed text, cut into small pieces with their places. */
export function streamed(text = STREAMED, size = 4): ClaudeEvent[] {
  const events: ClaudeEvent[] = [
    { type: "stateUpdate", state: { type: "thinking" }, partialText: "" },
    { type: "stateUpdate", state: { type: "responding" }, partialText: "" },
  ];
  for (let at = 0; at < text.length; at += size)
    events.push({ type: "text", content: text.slice(at, at + size), generation: 1, block: 0, at });
  events.push({ type: "textComplete", text });
  events.push({
    type: "result",
    subtype: "success",
    duration_ms: 4_200,
    total_cost_usd: 0.012,
    num_turns: 1,
    usage: { inputTokens: 400, outputTokens: 160, cacheReadInputTokens: 12_000, cacheCreationInputTokens: 0 },
  });
  events.push({ type: "state", state: "idle" });
  return events;
}

export function long(entries: number): HistoryMessage[] {
  const drafts: Draft[] = [];
  for (let index = 0; drafts.length < entries; index++) {
    drafts.push({ type: "text", role: "user", content: `Question ${index}: what does module ${index} do?`, wait: 100 });
    drafts.push({
      type: "tool_start",
      toolName: "Read",
      toolUseId: `l${index}`,
      toolInput: { file_path: `/src/module_${index}.rs` },
      wait: 100,
    });
    drafts.push({
      type: "tool_complete",
      toolName: "Read",
      toolUseId: `l${index}`,
      success: true,
      output: `pub fn module_${index}() {}`,
      wait: 100,
    });
    drafts.push({
      type: "text",
      role: "assistant",
      content: `Module **${index}** defines one function.\n\n\`\`\`rust\npub fn module_${index}() -> u32 { ${index} }\n\`\`\`\n\nIt is called from ${index % 7} places.`,
      wait: 100,
    });
  }
  return record(drafts.slice(0, entries));
}
