import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printedForms } from '../../../domain/workspaces/printed-values.ts';
import { DiffMasks, HeldDiff } from './diff-log.ts';
import { PrintedState } from '../printed-state.ts';

const PROGRESS = `Acquiring state lock. This may take a few moments...
data.x.a["k: v"]: Reading...
data.x.a["k: v"]: Still reading... [10s elapsed]
data.x.a["k: v"]: Read complete after 11s [id=1]
module.m.x.b[0]: Preparing import... [id=2]
module.m.x.b[0]: Refreshing state... [id=2]

`;
const DIFF = `Some later version used the selected providers.
    secret
x.a: Refreshing state... [id=secret]
secret without an end`;

void test('T98: progress passes, and everything is held from the first other line on, however it is split', () => {
  const bytes = Buffer.from(PROGRESS + DIFF);
  for (const size of [1, 7, 64, bytes.length]) {
    const held = new HeldDiff();
    let passed = '';
    for (let at = 0; at < bytes.length; at += size) {
      const chunk = Buffer.from(bytes.subarray(at, at + size));
      passed += held.push(chunk).toString();
      chunk.fill(0);
    }
    passed += held.end().toString();
    assert.equal(passed, PROGRESS);
    assert.equal(Buffer.concat(held.take()).toString(), DIFF);
    assert.deepEqual([held.isEmpty, held.isOver, held.take()], [false, false, []]);
  }
});

void test('T98: a line that does not end is held, and beyond its limit a diff is dropped', () => {
  const held = new HeldDiff(100_000);
  const answers = Array.from({ length: 9 }, () => held.push(Buffer.alloc(10_000, 'x: Refreshing state...')).length);
  assert.deepEqual([...answers, held.end().length, held.isOver], [...answers.map(() => 0), 0, false]);
  held.push(Buffer.alloc(10_001));
  assert.deepEqual([held.isOver, held.take(), held.push(Buffer.from('more\n')).length], [true, [], 0]);
});

async function masked(text: string, values: readonly string[]): Promise<string> {
  const masks = await DiffMasks.of(printedForms(values) ?? assert.fail());
  const pieces: Buffer[] = [];
  for await (const piece of masks.masked([Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))]))
    pieces.push(piece);
  const whole = Buffer.concat(pieces).toString();
  const sift = masks.after(new PrintedState());
  const streamed = [...Buffer.from(text)].map((byte) => sift.push(Buffer.from([byte])).toString('latin1'));
  assert.equal(Buffer.from(streamed.join('') + sift.end().toString('latin1'), 'latin1').toString(), whole);
  return whole;
}

void test('T98: a value is found as terraform prints it, and a short one only as a whole string', async () => {
  const text = '+ a = "ab" -> "abc", "x\\u00a0\\"y\\x01", ab["${v}"] = true # 12345 YWJjZC1lZmdo\n';
  const found = await masked(text, ['ab', 'x\u00a0"y\u0001', '\u0024{v}long', 'true', '12345', 'abcd-efgh']);
  const mark = '[redacted · secret]';
  assert.equal(found, `+ a = ${mark} -> "abc", "${mark}", ab["\${v}"] = true # ${mark} ${mark}\n`);
  assert.equal(await masked(text, []), text);
  assert.equal(await masked('a["$${key}"]', ['\u0024{key}']), `a["${mark}"]`);
});

void test('T98: a value of several lines, or of JSON, is found by its lines and parts', async () => {
  const json = JSON.stringify({ a: ['in-json', 7, { b: '["deeper"]' }], c: 'one-line\nother-line' });
  const text = '  in-json\n 7 "deeper"\n- one-line\n+\tother-line\n  first line \n  }\n';
  const mark = '[redacted · secret]';
  assert.equal(
    await masked(text, [json, 'first line\r\n  }\n']),
    `  ${mark}\n 7 "${mark}"\n- ${mark}\n+\t${mark}\n  ${mark} \n  }\n`,
  );
});

void test('T98: a number of a JSON text is found as it is written and in decimals', async () => {
  const json = '{"account": 98765432109876543210, "n": 4.50e3, "exp": [-9.8765432e-7 , 12345678.50], "huge": 1e+30}';
  const mark = '[redacted · secret]';
  const text =
    'account = 98765432109876543210 n = 4.50e3 4500 exp = -9.8765432e-7 -0.00000098765432 12345678.50 12345678.5 ' +
    `huge = 1e+30 1${'0'.repeat(30)}\n`;
  assert.equal(
    await masked(text, [json]),
    `account = ${mark} n = ${mark} ${mark} exp = ${`${mark} `.repeat(4)}huge = ${mark} ${mark}\n`,
  );
  assert.ok(printedForms(['{"n": 1e999999999, "m": 1e-999999999}']));
});

function nested(levels: number): string {
  return `${'['.repeat(levels)}"deep-secret"${']'.repeat(levels)}`;
}

function inTexts(texts: number): string {
  return texts === 0 ? 'deep' : JSON.stringify([inTexts(texts - 1)]);
}

void test('T98: a JSON text that is nested deeper than is looked into has no masks', () => {
  for (const text of [nested(200), inTexts(8), '[['.repeat(1000)]) assert.notEqual(printedForms([text]), null);
  for (const text of [nested(201), nested(100_000), inTexts(9)]) assert.equal(printedForms([text]), null);
});

const CONNECTION = 'host=db.internal port=5432 user=service password=hunter2secret  sslmode=verify-full a b c';

/** As Go's wordwrap does it: the blanks at which a line is broken are lost. */
function wrapped(text: string, columns: number): string {
  const lines: string[] = [];
  for (const [, blanks = '', word = ''] of text.matchAll(/(\s*)(\S+)/g)) {
    const longer = `${lines.at(-1) ?? ''}${blanks}${word}`;
    if (lines.length === 0 || longer.length > columns) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}

void test('T98: a value is found wherever terraform wraps it', async () => {
  for (let columns = 1; columns <= 120; columns += 1) {
    const text = wrapped(`The connection is ${CONNECTION}; sslmode is another one.`, columns);
    const found = await masked(text, [CONNECTION, 'user=service password=hunter2secret', 'hunter2secret sslmode']);
    const words = 'The connection is [redacted · secret]; sslmode is another one.';
    assert.equal(found.replaceAll('\n', ' '), words, text);
  }
  assert.equal(await masked(' ab\tab\n\n  ab ab-ab ', ['ab  ab']), ' [redacted · secret]-ab ');
});

void test('T98: of a value that terraform escapes or wraps in its own ways, the pieces are found', async () => {
  const value = 'the-token\u{1fae9}hunter2secret\u3000third-piece';
  const mark = '[redacted · secret]';
  assert.equal(
    await masked(`"the-token\\U0001fae9hunter2secret\\u3000third-piece" ${value}\n`, [value]),
    `"${mark}\\U0001fae9${mark}\\u3000${mark}" ${mark}\n`,
  );
  assert.equal(await masked('hunter2secret\nthird-piece', [JSON.stringify([value])]), `${mark}\n${mark}`);
});

void test('T98: values of more bytes than are looked for have no masks', () => {
  assert.equal(printedForms(Array.from({ length: 600 }, (_, n) => `${n}`.padStart(1000, 'v'))), null);
  assert.equal(printedForms(['x'.repeat(600_000)]), null);
  assert.notEqual(printedForms(Array.from({ length: 500 }, (_, n) => `${n}`.padStart(1000, 'v'))), null);
});

void test('T98: many values are made ready in pieces, between which the event loop has its turns', async () => {
  const forms = printedForms(Array.from({ length: 500 }, (_, n) => `${n}`.padStart(1000, 'v'))) ?? assert.fail();
  let turns = 0;
  let isMaking = true;
  const count = (): void => {
    turns += 1;
    if (isMaking) setImmediate(count);
  };
  setImmediate(count);
  const masks = await DiffMasks.of(forms);
  isMaking = false;
  assert.ok(turns > 200, `${turns}`);
  const sift = masks.after(new PrintedState());
  assert.equal(sift.push(Buffer.from(`a ${'499'.padStart(1000, 'v')}\n`)).toString(), 'a [redacted · secret]\n');
});
