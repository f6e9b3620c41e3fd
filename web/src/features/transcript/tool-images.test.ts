import { expect, it } from "vitest";
import { pictureKind } from "@/ui/picture";
import { withoutMarks } from "./tool-images";

it("leaves out the names of the pictures that are shown, and no other words", () => {
  const output = "before\n[image: image/png, 6 KiB]\nafter\n[image: image/png, 9 KiB]\n";
  expect(withoutMarks(output, 2)).toBe("before\nafter\n");
  expect(withoutMarks(output, 1)).toBe("before\nafter\n[image: image/png, 9 KiB]\n");
  expect(withoutMarks(output, 0)).toBe(output);
  expect(withoutMarks("[image: image/svg+xml, 1 KiB]\n", 1)).toBe("[image: image/svg+xml, 1 KiB]\n");
});

it("knows pictures by their names, and takes none that could run something", () => {
  expect(pictureKind("a/b.PNG")).toBe("image/png");
  expect(pictureKind("photo.jpg")).toBe("image/jpeg");
  expect(pictureKind("drawing.svg")).toBeUndefined();
  expect(pictureKind("png")).toBeUndefined();
});
