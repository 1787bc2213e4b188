import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PrintedState } from './printed-state.ts';

const STATE = `{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 23,
  "lineage": "6d1f0c5e-0000-4000-8000-000000000001",
  "resources": [
    {
      "name": "made"
    }
  ],
  "check_results": null
}
`;
const BEFORE = 'terraform_data.made: Creation complete after 0s\n\nError: Failed to write state\n{\n';
const AFTER = '\nError: Failed to persist state to backend\n{\n  "version": 4,';

/** In pieces of memory that is taken back, as the recorder does. */
async function sift(pieces: readonly string[]): Promise<{ readonly shown: string; readonly serial: number | null }> {
  const printed = new PrintedState();
  let shown = '';
  for (const piece of pieces) {
    const chunk = Buffer.from(piece);
    shown += printed.push(chunk).toString();
    chunk.fill(0);
  }
  shown += printed.end().toString();
  return { shown, serial: (await printed.state())?.serial ?? null };
}

describe('A state that terraform prints', () => {
  test('is taken out of the output, wherever the output is split', async () => {
    const text = `${BEFORE}${STATE}${AFTER}`;
    const wanted = { shown: `${BEFORE}${AFTER}`, serial: 23 };
    for (let at = 0; at <= text.length; at += 1)
      assert.deepEqual(await sift([text.slice(0, at), text.slice(at)]), wanted, `split at ${at}`);
    for (const size of [1, 2, 3, 7, 40])
      assert.deepEqual(await sift(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []), wanted, `pieces of ${size}`);
  });

  test('is taken from the very beginning of the output, and the last of two is the one that holds', async () => {
    assert.deepEqual(await sift([STATE, STATE.replace('23', '24'), 'end\n']), { shown: 'end\n', serial: 24 });
  });

  test('does not begin in the middle of a line, and a broken one is not shown', async () => {
    const echoed = `terraform_data.made (local-exec): ${STATE}`;
    assert.deepEqual(await sift([echoed]), { shown: echoed, serial: null });
    assert.deepEqual(await sift([BEFORE, STATE.slice(0, 120)]), { shown: BEFORE, serial: null });
    assert.deepEqual(await sift([BEFORE, STATE.replace('"resources": [', '"resources": '), AFTER]), {
      shown: `${BEFORE}${AFTER}`,
      serial: null,
    });
  });

  test('T97: is parsed after the run, in a thread where it is long, and not where its output is read', async () => {
    const printed = new PrintedState();
    // Each value is an object, which costs most to parse.
    const long = STATE.replace('"resources": [', `"values": [${'{},'.repeat(1_000_000)}{}],\n  "resources": [`);
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = (...given) => ((parsed += 1), parse(...given) as unknown);
    try {
      assert.equal(printed.push(Buffer.from(long)).toString(), '');
      assert.equal(printed.push(Buffer.from('{}\n')).toString(), '{}\n');
      assert.equal((await printed.state())?.serial, 23);
    } finally {
      JSON.parse = parse;
    }
    assert.equal(parsed, 0);
  });

  test('holds up no line that is whole', () => {
    const printed = new PrintedState();
    for (const line of ['one\n', 'two {\n', '}\n', '{"a": 1}\n'])
      assert.equal(printed.push(Buffer.from(line)).toString(), line);
  });
});
