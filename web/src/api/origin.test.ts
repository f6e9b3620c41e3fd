import { afterEach, describe, expect, it, vi } from "vitest";
import { openSocket } from "./socket";

/** Where the page connects to when it was opened at this address. */
function connectsTo(address: string): string {
  const opened: string[] = [];
  vi.stubGlobal("location", new URL(address));
  vi.stubGlobal(
    "WebSocket",
    class {
      constructor(url: string | URL) {
        opened.push(String(url));
      }
    },
  );
  openSocket({ opened: vi.fn(), received: vi.fn(), closed: vi.fn() });
  return opened.join();
}

afterEach(() => vi.unstubAllGlobals());

describe("the socket", () => {
  it("goes to the server of the page, whatever a link says", () => {
    for (const link of [
      "https://relay.example/",
      "https://relay.example/#pair=p1.s3cret",
      "https://relay.example/?gatewayUrl=wss://evil.example/ws",
      "https://relay.example/?relay=https://evil.example#pair=p1.s3cret",
      "https://relay.example/#/c/x?relay=wss://evil.example",
      "https://relay.example//evil.example/",
    ]) {
      expect(connectsTo(link), link).toBe("wss://relay.example/ws");
    }
    expect(connectsTo("http://127.0.0.1:7710/?token=x")).toBe("ws://127.0.0.1:7710/ws");
  });
});
