/** Against the vectors of FIPS 180-4, and against the runtime's own for lengths around the edges of a block. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { Sha256 } from "./sha256";

const bytes = (text: string) => new TextEncoder().encode(text);

it("gives what the standard gives", () => {
  expect(new Sha256().hex()).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(new Sha256().update(bytes("abc")).hex()).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  const long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  expect(new Sha256().update(bytes(long)).hex()).toBe(
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  );
});

it("is the same for every length and however it is cut", () => {
  for (let length = 0; length < 200; length++) {
    const all = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256);
    const cut = Math.floor(length / 3);
    const pieces = new Sha256().update(all.subarray(0, cut)).update(all.subarray(cut));
    expect(pieces.hex()).toBe(createHash("sha256").update(all).digest("hex"));
  }
});
