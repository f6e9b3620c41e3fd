// Packs the built files once, so that a server can send them as they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (!/\.(?:js|css|html|svg|webmanifest)$/.test(name)) continue;
  writeFileSync(`${dist}${name}.gz`, gzipSync(readFileSync(dist + name), { level: 9 }));
}
