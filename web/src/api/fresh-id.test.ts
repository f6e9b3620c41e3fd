import { expect, it, vi } from "vitest";
import { freshId } from "./fresh-id";

it("gives ids of their own where the browser offers none", () => {
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  vi.stubGlobal("crypto", { getRandomValues });
  try {
    const made = Array.from({ length: 100 }, freshId);
    expect(new Set(made).size).toBe(100);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{32}$/);
  } finally {
    vi.unstubAllGlobals();
  }
});
