import { afterEach, expect, it, vi } from "vitest";
import { clearAll, load, save } from "./storage";

afterEach(() => vi.unstubAllGlobals());

it("leaves nothing behind when the device is signed out", async () => {
  // As in a browser: what is kept are the object's own members.
  const memory = Object.create({
    getItem: (name: string) => memory[name] ?? null,
    setItem: (name: string, value: string) => {
      memory[name] = value;
    },
    removeItem: (name: string) => {
      delete memory[name];
    },
  });
  const copies = new Set(["estelle-1", "estelle-2"]);
  vi.stubGlobal("localStorage", memory);
  vi.stubGlobal("caches", {
    keys: async () => [...copies],
    delete: async (name: string) => copies.delete(name),
  });
  memory.setItem("of another app", "stays");
  save("token", "s3cret");
  save("drafts", { "conv-1": "what was being written" });
  expect(load("token", null)).toBe("s3cret");
  await clearAll();
  expect(Object.keys(memory)).toEqual(["of another app"]);
  expect(load("token", null)).toBeNull();
  expect(copies.size).toBe(0);
});
