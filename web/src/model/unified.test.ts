import { expect, it } from "vitest";
import { parseUnified } from "./unified";

const DIFF = `diff --git a/beds.txt b/beds.txt
index 1..2 100644
--- a/beds.txt
+++ b/beds.txt
@@ -1,3 +1,3 @@ fn sow()
 basil
-mint
--- a/old heading
+-- a/new heading
+thyme
@@ -9 +9,2 @@
 end
+more
\\ No newline at end of file
diff --git a/seed.png b/seed.png
new file mode 100644
Binary files /dev/null and b/seed.png differ
`;

it("reads hunks with their numbers, by their count and not by how a line looks", () => {
  const [beds, seed] = parseUnified(DIFF);
  expect(beds?.hunks).toHaveLength(2);
  expect(beds?.hunks[0]).toEqual({
    around: "fn sow()",
    lines: [
      { type: "same", text: "basil", before: 1, after: 1 },
      { type: "removed", text: "mint", before: 2 },
      { type: "removed", text: "-- a/old heading", before: 3 },
      { type: "added", text: "-- a/new heading", after: 2 },
      { type: "added", text: "thyme", after: 3 },
    ],
  });
  expect(beds?.hunks[1]?.lines.at(-1)).toEqual({ type: "added", text: "more", after: 10 });
  expect(seed).toEqual({ notes: ["new file mode 100644", "Binary files /dev/null and b/seed.png differ"], hunks: [] });
});

it("takes anything", () => {
  expect(parseUnified("")).toEqual([]);
  expect(parseUnified("@@ -1 +1 @@\n+x")).toEqual([]);
  expect(parseUnified("diff --git a b\n@@ -1,9 +1,9 @@\n+x")[0]?.hunks[0]?.lines).toEqual([
    { type: "added", text: "x", after: 1 },
  ]);
});
