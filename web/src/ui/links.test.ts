import { describe, expect, it } from "vitest";
import { safeLink } from "./links";

describe("links", () => {
  it("go to the web and to mail, and nowhere else", () => {
    expect(safeLink("https://example.com/a", "here")).toEqual({ href: "https://example.com/a" });
    expect(safeLink("mailto:a@example.com", "mail")).toEqual({ href: "mailto:a@example.com" });
    for (const bad of [
      "javascript:alert(1)",
      " JaVaScRiPt:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "vbscript:x",
      "/relative",
      "#here",
      "blob:x",
      "//x",
    ]) {
      expect(safeLink(bad, "click"), bad).toBeNull();
    }
  });

  it("say where they go when their text says something else", () => {
    expect(safeLink("https://evil.example/login", "https://bank.example")).toMatchObject({ warns: "evil.example" });
    expect(safeLink("https://evil.example", "bank.example/login")).toMatchObject({ warns: "evil.example" });
    expect(safeLink("https://bank.example@evil.example/", "log in")).toMatchObject({ warns: "evil.example" });
    expect(safeLink("https://b\u0430nk.example/", "log in")).toHaveProperty("warns");
    expect(safeLink("https://bank.example/login", "bank.example")).not.toHaveProperty("warns");
  });
});
