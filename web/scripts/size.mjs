// Prints what the first load costs, and fails when it costs more than it may.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 200;
const dist = new URL("../dist/", import.meta.url);
const worker = readFileSync(new URL("sw.js", dist), "utf8");
const first = [...new Set(worker.match(/\/assets\/[\w.-]+\.(?:js|css)/g) ?? [])];
const size = (name) => gzipSync(readFileSync(new URL(`.${name}`, dist)), { level: 9 }).length / 1000;
const sum = (ending) => first.filter((name) => name.endsWith(ending)).reduce((all, name) => all + size(name), 0);
const script = sum(".js");
const later = readdirSync(new URL("assets/", dist)).filter(
  (name) => name.endsWith(".js") && !first.includes(`/assets/${name}`),
);
console.log(
  `First load: ${script.toFixed(1)} kB of script and ${sum(".css").toFixed(1)} kB of style, gzipped (limit ${LIMIT_KB} kB); ${later.length} more files on demand.`,
);
if (script === 0 || script > LIMIT_KB) {
  console.error(`The first load has ${script.toFixed(1)} kB of script; at most ${LIMIT_KB} kB are allowed.`);
  process.exit(1);
}
