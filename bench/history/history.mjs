// A history as most people would keep it with better-sqlite3: a table of messages, an index, FTS5.
//
//   node history.mjs fill <file> <entries> <appends>
//   node history.mjs read <file> <times>
//
// The texts are those of crates/pylon/examples/bench_history/text.rs. Prints one line of JSON.

import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

import Database from 'better-sqlite3';

const PAGE = 50;
const WARM_UP = 20;

function textOf(nth, entries) {
  let state = nth >>> 0;
  let text = '';
  for (let word = 0; word < 80; word += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += `wo${(state >>> 8) % 5000} `;
  }
  if (nth % 10 === 0) text += 'common ';
  if (nth % Math.max(Math.floor(entries / 50), 1) === 0) text += 'rarity ';
  return text;
}

function quantiles(times) {
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(Math.floor((times.length * part) / 100), times.length - 1)];
  return { p50_ms: at(50), p99_ms: at(99) };
}

function open(file) {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('cache_size = -65536');
  return db;
}

function fill(file, entries, appends) {
  const db = open(file);
  db.exec(`
    CREATE TABLE messages (
      id INTEGER PRIMARY KEY, conversation TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
      content TEXT NOT NULL, created_at INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX by_seq ON messages (conversation, seq);
    CREATE VIRTUAL TABLE search USING fts5 (content, content = 'messages', content_rowid = 'id');
  `);
  const insert = db.prepare(
    'INSERT INTO messages (conversation, seq, role, content, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const index = db.prepare('INSERT INTO search (rowid, content) VALUES (?, ?)');
  const put = (conversation, nth, all) => {
    const text = textOf(nth, all);
    const role = nth % 2 === 0 ? 'assistant' : 'user';
    const { lastInsertRowid } = insert.run(conversation, nth, role, text, 1794744000000 + nth);
    index.run(lastInsertRowid, text);
  };
  const batch = db.transaction((conversation, from, to, all) => {
    for (let nth = from; nth <= to; nth += 1) put(conversation, nth, all);
  });
  const begin = performance.now();
  for (let next = 1; next <= entries; next += 500) {
    batch('long', next, Math.min(next + 499, entries), entries);
  }
  const filled = performance.now() - begin;
  batch('short', 1, 100, Number.MAX_SAFE_INTEGER);
  const times = [];
  for (let nth = 101; nth <= 100 + appends; nth += 1) {
    const start = performance.now();
    batch('short', nth, nth, Number.MAX_SAFE_INTEGER);
    times.push(performance.now() - start);
  }
  db.close();
  return { entries_per_s: (entries / filled) * 1e3, append: quantiles(times), bytes: statSync(file).size };
}

function read(file, times) {
  const begin = performance.now();
  const db = open(file);
  const columns = 'SELECT id, seq, role, content, created_at FROM messages WHERE conversation = ?';
  const newest = db.prepare(`${columns} ORDER BY seq DESC LIMIT ?`);
  newest.all('long', PAGE);
  const figures = { open_ms: performance.now() - begin };
  const cursor = db.prepare(`${columns} AND seq < ? ORDER BY seq DESC LIMIT ?`);
  const offset = db.prepare(`${columns} ORDER BY seq DESC LIMIT ? OFFSET ?`);
  const search = db.prepare(`
    SELECT m.id, m.conversation, m.seq, m.content, m.created_at, snippet(search, 0, '', '', '…', 16) AS snippet
    FROM search JOIN messages m ON m.id = search.rowid
    WHERE search MATCH ? ORDER BY search.rowid DESC LIMIT ?`);
  const middle = Math.floor(db.prepare("SELECT max(seq) AS n FROM messages WHERE conversation = 'long'").get().n / 2);
  const ask = (name, count, question) => {
    const taken = [];
    for (let nth = 0; nth < count + WARM_UP; nth += 1) {
      const start = performance.now();
      const rows = question();
      taken.push(performance.now() - start);
      if (rows.length !== PAGE) throw new Error(`${name}: ${rows.length} rows`);
    }
    figures[name] = quantiles(taken.slice(WARM_UP));
  };
  ask('short_newest', times, () => newest.all('short', PAGE));
  ask('newest', times, () => newest.all('long', PAGE));
  ask('cursor', times, () => cursor.all('long', middle, PAGE));
  ask('offset', Math.min(times, 20), () => offset.all('long', PAGE, middle));
  ask('rare', times, () => search.all('rarity', PAGE));
  ask('common', times, () => search.all('common', PAGE));
  ask('beginning', Math.floor(times / 10) + 1, () => search.all('commo*', PAGE));
  figures.sqlite = db.prepare('SELECT sqlite_version() AS version').get().version;
  db.close();
  return figures;
}

const [what, file, ...rest] = process.argv.slice(2);
const figures = what === 'fill' ? fill(file, ...rest.map(Number)) : read(file, ...rest.map(Number));
console.log(JSON.stringify(figures));
