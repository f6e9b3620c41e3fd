/**
 * A machine as a person has it: `estelle up` as a process on a data folder of its own, with the simulator or a real CLI.
 *
 * Everything is on the loopback and in one temporary folder. Gates hold an answer back until a test opens them.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface, type Interface } from "node:readline";

/** The programs, as `cargo xtask test` names them. */
const PROGRAM = process.env.ESTELLE_PROGRAM;
const SIMULATOR = process.env.ESTELLE_SIM_CLAUDE;
const API = process.env.ESTELLE_FAKE_API;
const CLAUDE = process.env.ESTELLE_CLAUDE_325;

/** Whether there is a machine to test with: a page can also be looked at without the programs. */
export const hasMachine = PROGRAM !== undefined && existsSync(PROGRAM) && SIMULATOR !== undefined;
export const hasClaude = hasMachine && CLAUDE !== undefined && API !== undefined;

/** A process and its lines. */
class Talker {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  constructor(program: string, args: string[], env: Record<string, string>, cwd: string) {
    this.child = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "inherit"] });
    this.#reader = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** The first line that fits. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error(`the process ended before it said ${pattern}`);
      const found = pattern.exec(value);
      if (found) return found;
    }
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGKILL");
    await ended;
    this.#reader.close();
  }
}

export class Machine {
  readonly #place = mkdtempSync(join(tmpdir(), "estelle-e2e-"));
  #environment: Record<string, string> = {};
  #agent: string[] = [];
  #api: Talker | null = null;
  #up: Talker | null = null;
  #relay: Talker | null = null;
  #pylon: Talker | null = null;
  #port = 0;
  #program = PROGRAM ?? "";

  /** With more of the environment, if the machine is set up by it; `prepare` comes before it is started. */
  static async start(
    agent: "simulator" | "claude",
    { more = {}, prepare }: { more?: Record<string, string>; prepare?: (machine: Machine) => void } = {},
  ): Promise<Machine> {
    const machine = new Machine();
    for (const folder of ["home", "gates", "markers", "home/garden"]) mkdirSync(machine.path(folder));
    machine.#environment = {
      HOME: machine.path("home"),
      PATH: "/usr/bin:/bin",
      ESTELLE_SIM_CLAUDE: SIMULATOR ?? "",
      ESTELLE_SIM_GATES: machine.path("gates"),
      ESTELLE_SIM_MARKERS: machine.path("markers"),
      ESTELLE_DATA: machine.path("data"),
      ...more,
    };
    prepare?.(machine);
    if (agent === "claude") await machine.#useClaude();
    else machine.#agent = ["--demo"];
    await machine.up();
    return machine;
  }

  /** The real CLI, with a home of its own and a stand-in for the Messages API. */
  async #useClaude(): Promise<void> {
    this.#api = new Talker(API ?? "", ["--gates", this.path("gates")], {}, this.path("home"));
    const [, url = ""] = await this.#api.until(/"url":"([^"]+)"/);
    Object.assign(this.#environment, {
      ANTHROPIC_API_KEY: "fake",
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
      NO_PROXY: "127.0.0.1,localhost",
    });
    this.#agent = ["--claude", CLAUDE ?? ""];
  }

  path(name: string): string {
    return join(this.#place, name);
  }

  read(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : "";
  }

  openGate(name: string): void {
    writeFileSync(this.path(`gates/${name}`), "");
  }

  /** Sets a variable for what is started from now on. */
  configure(name: string, value: string): void {
    this.#environment[name] = value;
  }

  /** Runs git in a folder of the machine, as nobody in particular. */
  git(folder: string, ...args: string[]): string {
    const who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    return execFileSync("git", [...who, ...args], { cwd: this.path(folder), env, encoding: "utf8" });
  }

  /** From now on it starts a program of its own, which may be replaced. */
  ownProgram(): void {
    const own = this.path("bin/estelle");
    mkdirSync(dirname(own));
    try {
      linkSync(this.#program, own);
    } catch {
      copyFileSync(this.#program, own);
    }
    this.#program = own;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts `estelle up`, on the same port as before, and waits until it is there. */
  async up(): Promise<void> {
    const args = ["up", "--json", "--listen", `127.0.0.1:${this.#port}`, ...this.#agent];
    this.#up = new Talker(this.#program, args, this.#environment, this.path("home"));
    const [, port] = await this.#up.until(/"address":"http:\/\/127\.0\.0\.1:(\d+)"/);
    this.#port = Number(port);
  }

  /** Starts what a test has killed: whatever it was, relay and Pylon are there afterwards. */
  async mend(): Promise<void> {
    if (this.#up || (this.#relay && this.#pylon)) return;
    if (this.#pylon) await this.startRelay();
    else if (this.#relay) await this.startPylon();
    else await this.up();
  }

  /** `kill -9` of relay and Pylon; the host and its runs go on. */
  async killUp(): Promise<void> {
    await this.#up?.kill();
    this.#up = null;
  }

  /** Goes on as parts: a relay and a Pylon, each a process of its own, on the port and the data of before. */
  async takeApart(): Promise<void> {
    await this.killUp();
    await this.startRelay();
    await this.startPylon();
  }

  /** Starts the relay alone, on the port of before. */
  async startRelay(): Promise<void> {
    const registry = ["--registry", this.path("data/relay.json")];
    const args = ["relay", "serve", "--listen", `127.0.0.1:${this.#port}`, ...registry];
    this.#relay = new Talker(this.#program, args, this.#environment, this.path("home"));
  }

  /** `kill -9` of the relay alone; Pylon, host and runs go on. */
  async killRelay(): Promise<void> {
    await this.#relay?.kill();
    this.#relay = null;
  }

  /** Starts the Pylon alone. */
  async startPylon(): Promise<void> {
    const args = ["pylon", "--relay", `ws://127.0.0.1:${this.#port}/ws`];
    this.#pylon = new Talker(this.#program, args, this.#environment, this.path("home"));
  }

  /** `kill -9` of the Pylon alone; relay, host and runs go on. */
  async killPylon(): Promise<void> {
    await this.#pylon?.kill();
    this.#pylon = null;
  }

  /** Puts a file into a folder of the machine. */
  write(name: string, contents: string | Uint8Array): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), contents);
  }

  /** `estelle pair`: gives the link, and says `y`, or `a` for a device that may manage, when somebody comes with it. */
  async pair(): Promise<{ link: string; agree: (word?: "y" | "a") => Promise<string> }> {
    const pair = new Talker(this.#program, ["pair", "--no-qr"], this.#environment, this.path("home"));
    const [link] = await pair.until(/http:\S+#pair=\S+/);
    const agree = async (word = "y") => {
      pair.say(word);
      const [, name = ""] = await pair.until(/✓ (.*) is in\./);
      await pair.kill();
      return name;
    };
    return { link, agree };
  }

  /** The secret of a device that is let in without asking. */
  device(name: string, rights = "view,prompt,approve"): string {
    const args = ["devices", "add", "--name", name, "--rights", rights, "--json"];
    const text = execFileSync(this.#program, args, { env: this.#environment, encoding: "utf8" });
    return (JSON.parse(text) as { token: string }).token;
  }

  /** Ends everything, as before the machine is switched off: what was said is on the disk. */
  async switchOff(): Promise<void> {
    await this.killUp();
    await this.killPylon();
    await this.killRelay();
    execFileSync(this.#program, ["host", "stop", "--all"], { env: this.#environment, stdio: "ignore" });
  }

  async stop(): Promise<void> {
    await this.switchOff();
    await this.#api?.kill();
    rmSync(this.#place, { recursive: true, force: true });
  }
}

export interface Step {
  say?: string;
  think?: string;
  chunks?: number;
  delay_ms?: number;
  /** Each piece is its number and the time at which it was made. */
  stamp?: boolean;
  tool?: string;
  input?: unknown;
  gate?: string;
  gate_at?: number;
}

/** A prompt that tells the agent what to answer. */
export function script(words: string, ...steps: Step[]): string {
  return `${words} SCRIPT:${JSON.stringify(steps)}`;
}
