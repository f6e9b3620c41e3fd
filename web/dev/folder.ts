/** A folder to look into: files and what is not committed, as a machine would tell them. */
import type { ChangedFile, FileEntry } from "@/gen";

const FILES: Record<string, string> = {
  "README.md": "# Estelle\n\nClaude Code on your own machines.\n",
  "crates/relay/src/link.rs":
    "//! One connection.\n\nasync fn read_frame(&mut self) -> Result<Frame, ReadError> {\n    while !self.buffer.has_frame() {\n        self.fill().await?;\n    }\n    Ok(self.buffer.take())\n}\n",
  "crates/relay/Cargo.toml": '[package]\nname = "estelle-relay"\n',
};

export const CHANGED: ChangedFile[] = [
  { path: "crates/relay/src/link.rs", kind: "modified", staged: false, unstaged: true, insertions: 3, deletions: 1 },
  {
    path: "crates/relay/tests/two_frames.rs",
    kind: "untracked",
    staged: false,
    unstaged: true,
    insertions: 41,
    deletions: 0,
  },
  { path: "docs/sky.png", kind: "added", staged: true, unstaged: false, binary: true },
  { path: ".env", kind: "modified", staged: false, unstaged: true, withheld: true },
];

export const DIFF = `diff --git a/crates/relay/src/link.rs b/crates/relay/src/link.rs
index 1f0c..9ab2 100644
--- a/crates/relay/src/link.rs
+++ b/crates/relay/src/link.rs
@@ -86,6 +86,8 @@ impl Link {
     /// Reads one frame, or waits for it.
     async fn read_frame(&mut self) -> Result<Frame, ReadError> {
-        let bytes = self.stream.next().await.ok_or(ReadError::Closed)?;
+        while !self.buffer.has_frame() {
+            self.fill().await?;
+        }
         Ok(self.buffer.take())
     }
 }
`;

/** The names in a folder. */
export function entriesOf(folder: string): FileEntry[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const inside = Object.keys(FILES).filter((path) => path.startsWith(prefix));
  const names = [...new Set(inside.map((path) => path.slice(prefix.length).split("/")[0] ?? ""))];
  return names.sort().map((name) => {
    const text = FILES[prefix + name];
    return text === undefined ? { name, kind: "folder" } : { name, kind: "file", size: text.length };
  });
}

export function contentsOf(path: string): string | undefined {
  return FILES[path];
}
