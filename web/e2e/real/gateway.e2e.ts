/** The published client of the gateway against a machine: built, loaded by Node, cut off and back again. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Down, Way } from "../../src/gateway/index";
import { hasMachine, Machine, script } from "./machine";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Line {
  message?: Down;
  way?: Way;
  settled?: string;
  refused?: string;
  code?: string;
}

/** A port that nobody has. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

describe.skipIf(!hasMachine)("the client of the gateway", () => {
  const built = mkdtempSync(join(tmpdir(), "estelle-client-"));
  let machine: Machine;
  let base = "";
  let child: ChildProcess | null = null;

  beforeAll(async () => {
    base = `http://127.0.0.1:${await freePort()}`;
    const more = { ESTELLE_GATEWAY_LISTEN: base.slice("http://".length) };
    machine = await Machine.start("simulator", { more });
    const tsc = here("../../node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [tsc, "-p", here("../../src/gateway/tsconfig.json"), "--outDir", built]);
  });
  afterAll(async () => {
    child?.kill("SIGKILL");
    await machine?.stop();
    rmSync(built, { recursive: true, force: true });
  });

  it("talks, decides, is refused what cannot be, and comes back to a machine that was killed", async () => {
    expect(existsSync(join(built, "index.d.ts"))).toBe(true);
    const token = machine.read("data/gateway.token").trim();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "Garden", path: machine.path("home/garden") });
    const made = await fetch(`${base}/api/workspaces`, { method: "POST", headers, body });
    const { workspace } = (await made.json()) as { workspace: { session_ids: string[] } };
    const args = [here("gateway-client.mjs"), join(built, "index.js"), base, token, workspace.session_ids[0] ?? ""];
    // The oldest Node that is supported has its WebSocket behind a flag.
    child = spawn(process.execPath, ["--experimental-websocket", ...args], { stdio: ["pipe", "pipe", "inherit"] });
    const lines: Line[] = [];
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) =>
      lines.push(JSON.parse(line)),
    );
    const say = (order: object) => child?.stdin?.write(`${JSON.stringify(order)}\n`);
    const settled = (name: string) => expect.poll(() => lines.find((line) => line.settled === name)).toBeTruthy();
    const words = () =>
      lines.map(({ message }) => (message?.type === "output" ? (message.content ?? "") : "")).join("");

    await expect.poll(() => lines.some((line) => line.message?.type === "caught_up")).toBe(true);
    const file = machine.path("home/garden/rose.txt");
    const write = { tool: "Write", input: { file_path: file, content: "red" } };
    say({ name: "first", input: script("Plant.", write, { say: "planted" }) });
    await settled("first");
    const asked = () => lines.map(({ message }) => message).find((message) => message?.type === "permission_request");
    await expect.poll(asked).toBeTruthy();
    expect(existsSync(file)).toBe(false);
    const permission = asked()?.type === "permission_request" ? asked() : undefined;
    const { request_id: approve, input_hash: hash } = (permission as Extract<Down, { type: "permission_request" }>)
      .permission;
    say({ name: "other", approve, hash: "other" });
    await expect.poll(() => lines.find((line) => line.refused === "other")?.code).toBeTruthy();
    say({ name: "yes", approve, hash });
    await settled("yes");
    await expect.poll(words).toContain("planted");
    expect(existsSync(file)).toBe(true);

    say({ name: "empty", input: " " });
    await expect.poll(() => lines.find((line) => line.refused === "empty")?.code).toBe("invalid_message");

    // What is said while nobody is there is said when somebody is, once.
    await machine.killUp();
    await expect.poll(() => lines.at(-1)?.way ?? lines.findLast((line) => line.way)?.way).toBe("connecting");
    say({ name: "late", input: script("And?", { say: "watered" }) });
    await machine.up();
    await settled("late");
    await expect.poll(words).toContain("watered");
    expect(words().split("watered")).toHaveLength(2);
  });
});
