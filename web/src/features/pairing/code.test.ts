import { describe, expect, it } from "vitest";
import { deviceName, offerOf } from "./code";

describe("pairing", () => {
  it("finds the offer in a link's fragment or alone, and nowhere else", () => {
    const offer = { pairId: "p1", secret: "s3cret-_x" };
    expect(offerOf("https://relay.example/#pair=p1.s3cret-_x")).toEqual(offer);
    expect(offerOf(" p1.s3cret-_x ")).toEqual(offer);
    expect(offerOf("https://relay.example/?pair=p1.s3cret-_x")).toBeNull();
    expect(offerOf("hello")).toBeNull();
  });

  it("guesses a name that a person recognises", () => {
    expect(deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1")).toBe("iPhone Safari");
    expect(deviceName("strange")).toBe("Browser");
  });
});
