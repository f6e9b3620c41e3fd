/**
 * Drives the published client in Node alone, as another program would: `<index.js> <base> <token> <session> <file>`.
 *
 * It prints one line of JSON for whatever happens, and says what it is told on standard input.
 */
import { createInterface } from "node:readline";

const [index, base, token, session] = process.argv.slice(2);
const { SessionClient } = await import(index);
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const client = new SessionClient({
  base,
  token,
  session,
  events: {
    message: (message) => print({ message }),
    way: (way) => print({ way }),
    rewound: () => print({ rewound: true }),
  },
});
const settle = (name, saying) =>
  saying.then(
    () => print({ settled: name }),
    (error) => print({ refused: name, code: error.code }),
  );
for await (const line of createInterface({ input: process.stdin })) {
  const { name, input, approve, hash } = JSON.parse(line);
  if (approve !== undefined) void settle(name, client.approve(approve, undefined, hash));
  else void settle(name, client.input(input));
}
client.close();
