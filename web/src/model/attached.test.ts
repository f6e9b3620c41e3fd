import { expect, it } from "vitest";
import { splitAttached } from "./attached";

const PATH = "/home/me/.local/share/estelle-uploads/c1/0a1b/장미_roses.png";

it("shows the names of the files in place of their paths", () => {
  const other = "/home/me/.local/share/estelle-uploads/c1/2c3d/a_(1 bytes).txt";
  const text = `Look.\n\nTwice.\n\nAttached files:\n- ${PATH} (1200 bytes)\n- ${other} (0 bytes)`;
  expect(splitAttached(text)).toEqual({
    words: "Look.\n\nTwice.",
    files: [
      { name: "장미_roses.png", path: PATH, size: 1200 },
      { name: "a_(1 bytes).txt", path: other, size: 0 },
    ],
  });
});

it("leaves alone what a person wrote", () => {
  for (const text of [
    "plain",
    "\n\nAttached files:\n- /etc/passwd (3 bytes)",
    `x\n\nAttached files:\n- ${PATH} (3 bytes)\nand more`,
    "x\n\nAttached files:",
  ])
    expect(splitAttached(text)).toEqual({ words: text, files: [] });
});
