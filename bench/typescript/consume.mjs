// One run of the TypeScript SDK against the replayer: `node consume.mjs stream|permissions|idle <replayer> <count>`.
//
// Prints one line of JSON about the run: what was delivered, and the time, processor time and memory it took.
// The clocks start when everything is loaded, right before the conversation is started.
import { readFileSync } from "node:fs";
import { query } from "@anthropic-ai/claude-agent-sdk";

const [mode, replayer, count] = process.argv.slice(2);

function memoryKb(field) {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(status.match(new RegExp(`^${field}:\\s+(\\d+)`, "m"))[1]);
}

/** A prompt that leaves the input open until `end` resolves, as an application with a person does. */
async function* prompt(end) {
  yield { type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null, session_id: "" };
  await end;
}

function start(end) {
  return query({
    prompt: prompt(end),
    options: {
      pathToClaudeCodeExecutable: replayer,
      includePartialMessages: true,
      canUseTool: async (_tool, input) => ({ behavior: "allow", updatedInput: input }),
    },
  });
}

async function one() {
  let finish;
  const end = new Promise((resolve) => {
    finish = resolve;
  });
  const run = { messages: 0, deltas: 0 };
  for await (const message of start(end)) {
    run.messages += 1;
    if (message.type === "stream_event" && message.event.type === "content_block_delta") run.deltas += 1;
    if (message.type === "result") break;
  }
  finish();
  return run;
}

async function idle(sessions) {
  const before = memoryKb("VmRSS");
  const never = new Promise(() => {});
  const open = [];
  const run = { messages: 0, deltas: 0 };
  for (let number = 0; number < sessions; number += 1) {
    const session = start(never);
    open.push(session);
    for (;;) {
      const { value, done } = await session.next();
      if (done) throw new Error("a conversation ended early");
      run.messages += 1;
      if (value.type === "result") break;
    }
  }
  run.base_kb = before;
  run.rss_kb = memoryKb("VmRSS");
  return run;
}

const wall = process.hrtime.bigint();
const cpu = process.cpuUsage();
const run = mode === "idle" ? await idle(Number(count)) : await one();
const used = process.cpuUsage(cpu);
run.wall_ns = Number(process.hrtime.bigint() - wall);
run.cpu_ns = (used.user + used.system) * 1000;
run.peak_kb = memoryKb("VmHWM");
console.log(JSON.stringify(run));
process.exit(0);
