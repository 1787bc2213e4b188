import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

const LINES = 5_000;
/** Makes its pipe non-blocking as modules do, fills it, says so, and prints `LINES` lines. */
const CHILD = `
  import { writeSync } from 'node:fs';
  import { printLine } from ${JSON.stringify(new URL('print-line.ts', import.meta.url).href)};
  process.stdout;
  try {
    for (;;) writeSync(1, '"filled"\\n');
  } catch (error) {
    writeSync(2, error.code);
  }
  for (let n = 0; n < ${LINES}; n += 1) printLine({ n });
`;

test('A line that finds the pipe full waits for the reader, and every line arrives whole', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CHILD], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [full] = (await once(child.stderr, 'data')) as [Buffer];
  assert.equal(full.toString(), 'EAGAIN');
  const seen: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const value = JSON.parse(line) as string | { n: number };
    if (typeof value === 'object') seen.push(value.n);
  }
  assert.deepEqual(await closed, [0, null]);
  assert.deepEqual(seen, [...Array(LINES).keys()]);
});
