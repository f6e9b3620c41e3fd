/**
 * SHA-256 piece by piece, for pages that come over plain http: there the browser offers none. Pure; loaded on demand.
 *
 * FIPS 180-4, as `crypto.subtle` has it.
 */
const BLOCK = 64;

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    let isPrime = true;
    for (let by = 2; by * by <= candidate && isPrime; by++) isPrime = candidate % by !== 0;
    if (isPrime) found.push(((root(candidate) % 1) * 2 ** 32) | 0);
  }
  return Uint32Array.from(found);
}

const ROUNDS = fractions(64, Math.cbrt);
const START = fractions(8, Math.sqrt);

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

export class Sha256 {
  readonly #state = Uint32Array.from(START);
  readonly #words = new Uint32Array(64);
  readonly #rest = new Uint8Array(BLOCK);
  #kept = 0;
  #length = 0;

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const piece = bytes.subarray(at, at + BLOCK - this.#kept);
      this.#rest.set(piece, this.#kept);
      this.#kept += piece.length;
      at += piece.length;
      if (this.#kept < BLOCK) break;
      this.#block();
      this.#kept = 0;
    }
    return this;
  }

  /** Ends it: 64 hexadecimal digits. */
  hex(): string {
    const bits = this.#length * 8;
    const zeroes = (BLOCK + 56 - 1 - this.#kept) % BLOCK;
    const tail = new Uint8Array(1 + zeroes + 8);
    tail[0] = 0x80;
    const view = new DataView(tail.buffer);
    view.setUint32(1 + zeroes, Math.floor(bits / 2 ** 32));
    view.setUint32(5 + zeroes, bits >>> 0);
    this.update(tail);
    return [...this.#state].map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  #block(): void {
    const words = this.#words;
    const view = new DataView(this.#rest.buffer);
    const word = (index: number) => words[index] as number;
    for (let index = 0; index < 16; index++) words[index] = view.getUint32(index * 4);
    for (let index = 16; index < 64; index++) {
      const early = word(index - 15);
      const late = word(index - 2);
      const small = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const large = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[index] = word(index - 16) + small + word(index - 7) + large;
    }
    this.#mix();
  }

  #mix(): void {
    const at = (index: number) => this.#state[index] as number;
    let [a, b, c, d, e, f, g, h] = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
    for (let index = 0; index < 64; index++) {
      const upper = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const chosen = (e & f) ^ (~e & g);
      const first = (h + upper + chosen + (ROUNDS[index] as number) + (this.#words[index] as number)) | 0;
      const lower = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const most = (a & b) ^ (a & c) ^ (b & c);
      // One by one: a swap of arrays would be made sixty-four times a block.
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + lower + most) | 0;
    }
    for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) this.#state[index] = at(index) + value;
  }
}
