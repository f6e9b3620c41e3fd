import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PAGE_POLICY } from "./page-rules";

const served = readFileSync(new URL("../../crates/cli/src/web.rs", import.meta.url), "utf8");
const [, text = ""] = /const POLICY: &str = "([^"]+)"/.exec(served) ?? [];
const sent = text.split(";").map((rule) => rule.replaceAll("\\", "").replace(/\s+/g, " ").trim());

it("lets the page run its own files and talk to its own server, and nothing else", () => {
  for (const rules of [PAGE_POLICY.split("; "), sent]) {
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]) {
      expect(rules).toContain(rule);
    }
    expect(rules).toContain("require-trusted-types-for 'script'");
    expect(rules.join(" ")).not.toMatch(/unsafe|\*|https?:|wss?:/);
  }
});

it("is the same in the page and in the header, which also forbids frames", () => {
  expect([...sent].sort()).toEqual([...PAGE_POLICY.split("; "), "frame-ancestors 'none'"].sort());
});
