import { describe, expect, it } from "vitest";
import { codeOf, deviceName } from "./code";

describe("pairing", () => {
  it("finds the code in a link's fragment and nowhere else", () => {
    expect(codeOf("https://relay.example/#pair=K7QF-29XM")).toBe("K7QF-29XM");
    expect(codeOf("https://relay.example/?pair=K7QF")).toBeNull();
    expect(codeOf("K7QF-29XM")).toBeNull();
  });

  it("guesses a name that a person recognises", () => {
    expect(deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1")).toBe("iPhone Safari");
    expect(deviceName("strange")).toBe("Browser");
  });
});
