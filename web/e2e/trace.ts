/**
 * How long the page's own thread was busy, by the processor time of its tasks.
 *
 * Wall time would also count what else the machine does; processor time holds on a busy machine too.
 */
import type { Browser, CDPSession } from "playwright-core";

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  tdur?: number;
  args?: { name?: string };
}

export class Trace {
  #events: TraceEvent[] = [];

  private constructor(private readonly session: CDPSession) {}

  static async start(browser: Browser): Promise<Trace> {
    const session = await browser.newBrowserCDPSession();
    const trace = new Trace(session);
    session.on("Tracing.dataCollected", ({ value }) => trace.#events.push(...(value as unknown as TraceEvent[])));
    const includedCategories = ["disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel", "__metadata"];
    await session.send("Tracing.start", { traceConfig: { includedCategories }, transferMode: "ReportEvents" });
    return trace;
  }

  /** Milliseconds of processor time of each task of the page's thread, longest first. */
  async stop(): Promise<number[]> {
    const complete = new Promise<void>((done) => this.session.once("Tracing.tracingComplete", () => done()));
    await this.session.send("Tracing.end");
    await complete;
    await this.session.detach();
    const main = new Set(
      this.#events
        .filter((one) => one.name === "thread_name" && one.args?.name === "CrRendererMain")
        .map((one) => `${one.pid}/${one.tid}`),
    );
    return this.#events
      .filter((one) => one.name === "RunTask" && one.tdur !== undefined && main.has(`${one.pid}/${one.tid}`))
      .map((one) => (one.tdur ?? 0) / 1_000)
      .sort((a, b) => b - a);
  }
}
