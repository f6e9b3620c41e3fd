/** Who may import whom: data flow stays visible in the file tree. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const MAY: Record<string, string[]> = {
  gateway: [],
  gen: ["gen"],
  i18n: ["i18n", "gen"],
  model: ["model", "gateway", "gen"],
  api: ["api", "model", "gateway", "gen"],
  store: ["store", "api", "model", "gateway", "i18n", "gen"],
  ui: ["ui", "store", "model", "i18n", "gen"],
  features: ["ui", "store", "api", "model", "i18n", "gen"],
  app: ["app", "features", "ui", "store", "api", "model", "i18n", "gen"],
};

const root = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

function wrongImports(name: string): string[] {
  const [layer = "", feature = ""] = name.split("/");
  const allowed = MAY[layer];
  if (!allowed) return [];
  const targets = [...readFileSync(root + name, "utf8").matchAll(/(?:from|import\()\s*"@\/([^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  return targets.filter((target) => {
    const [to = "", sibling = ""] = target.split("/");
    const isOwnFeature = layer === "features" && to === "features" && sibling === feature;
    return !isOwnFeature && !allowed.includes(to);
  });
}

it("every file imports only from the layers below it, and no feature from another", () => {
  expect(files.length).toBeGreaterThan(60);
  const wrong = files.flatMap((name) => wrongImports(name).map((target) => `${name} imports ${target}`));
  expect(wrong).toEqual([]);
});

it("only `api` talks to the network, and nothing makes HTML out of text", () => {
  const forbidden = /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|\beval\(/;
  const network = /\bfetch\(|new WebSocket\(|XMLHttpRequest/;
  const wrong = files.filter((name) => {
    if (name.endsWith("layers.test.ts")) return false;
    const text = readFileSync(root + name, "utf8");
    return (
      forbidden.test(text) ||
      (network.test(text) && !name.startsWith("api/") && !name.startsWith("gateway/") && name !== "sw.ts")
    );
  });
  expect(wrong).toEqual([]);
});
