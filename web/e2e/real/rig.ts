/**
 * One machine for all tests of a file, and devices of its own for each of them.
 *
 * A test leaves nothing behind that the next one could stumble over: its pages are closed, and a machine that it killed is
 * started again. So each passes or fails by itself, and alone with `-t`. What a test needs to be there it makes.
 */
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { launch } from "../browser";
import { Device, type DeviceOptions } from "./device";
import { Machine } from "./machine";

export interface RigOptions {
  agent?: "simulator" | "claude";
  /** What is laid out before the machine starts. */
  prepare?: (machine: Machine) => void;
  /** The workspace of all tests: a folder of the home. */
  workspace?: string;
}

/** So much of a page is printed when its test has failed. */
const PRINTED_CHARS = 1_500;

export class Rig {
  #browser: Browser | null = null;
  #machine: Machine | null = null;
  #devices: [string, Device][] = [];
  #made = 0;

  get machine(): Machine {
    if (!this.#machine) throw new Error("the machine is not started");
    return this.#machine;
  }

  /** A number that no other test has. */
  next(): number {
    return ++this.#made;
  }

  /** A device that is let in. */
  async open(name: string, options: DeviceOptions & { rights?: string } = {}): Promise<Device> {
    const { rights, ...rest } = options;
    return this.come(name, { token: this.machine.device(name, rights), ...rest });
  }

  /** A page without a secret, or with one that the test has. */
  async come(name: string, options: DeviceOptions = {}): Promise<Device> {
    if (!this.#browser) throw new Error("the browser is not started");
    const device = await Device.open(this.#browser, this.machine, options);
    this.#devices.push([name, device]);
    return device;
  }

  async start({ agent = "simulator", prepare, workspace }: RigOptions): Promise<void> {
    this.#browser = await launch();
    this.#machine = await Machine.start(agent, { prepare });
    if (workspace === undefined) return;
    const owner = await this.open("Owner");
    await owner.makeWorkspace(workspace);
    await this.clear();
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#machine?.stop();
  }

  /** Closes every page. Nothing may have gone wrong on one, and none may have asked anybody but the machine. */
  async clear(): Promise<void> {
    const all = this.#devices.splice(0);
    await Promise.all(all.map(([, device]) => device.close()));
    const wrong = all.flatMap(([name, { errors, strangers }]) => [...errors, ...strangers].map((one) => [name, one]));
    expect(wrong).toEqual([]);
  }

  /** Prints what a person would see: nobody can look at the screen of a machine that tests at night. */
  async print(): Promise<void> {
    for (const [name, { page }] of this.#devices) {
      if (page.isClosed()) continue;
      const seen = page.locator("body").allInnerTexts();
      const [text = ""] = await seen.catch((error) => [`cannot be read: ${error}`]);
      console.log(`${name} at ${page.url()}:\n${text.slice(-PRINTED_CHARS)}`);
    }
  }
}

/** Sets up a rig for the tests of the `describe` around it. */
export function rig(options: RigOptions = {}): Rig {
  const made = new Rig();
  beforeAll(() => made.start(options));
  beforeEach(() => made.machine.mend());
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await made.print();
    await made.clear();
  });
  afterAll(() => made.stop());
  return made;
}
