import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINE_LIMIT_BYTES, LineSplitter } from './lines.ts';

/** The events that the pieces make, as bytes in latin1. */
function split(pieces: Buffer[]): string[] {
  const events: string[] = [];
  const splitter = new LineSplitter((data, ended) => {
    const text = data.toString('latin1');
    if (!ended) events.push(text);
    else {
      assert.ok(text.endsWith('\n'));
      events.push(...text.slice(0, -1).split('\n'));
    }
  });
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return events;
}

function cutInto(data: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(data.length / size) }, (_, i) => data.subarray(i * size, (i + 1) * size));
}

/** The rule as one would write it down: each line in pieces of the limit. For text of one byte per character. */
function plain(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.flatMap((line) =>
    line === '' ? [''] : cutInto(Buffer.from(line), LINE_LIMIT_BYTES).map((piece) => piece.toString()),
  );
}

void test('lines come without their end, empty ones too, and an unfinished one at the end', () => {
  assert.deepEqual(split([Buffer.from('a\n\nb\r\nc\rd')]), ['a', '', 'b\r', 'c\rd']);
  assert.deepEqual(split([]), []);
  assert.deepEqual(split([Buffer.from('\n')]), ['']);
  assert.deepEqual(split([Buffer.from('a\n'), Buffer.alloc(0)]), ['a']);
});

void test('where the stream is cut makes no difference', () => {
  const text = Buffer.from('one\ntwo\n\n\nthree and more\rprogress\nlast');
  for (let size = 1; size <= text.length; size += 1)
    assert.deepEqual(split(cutInto(text, size)), plain(text.toString()));
});

void test('F13: a line over 64 KiB is split at 64 KiB, one of just 64 KiB is not', () => {
  for (const length of [
    LINE_LIMIT_BYTES - 1,
    LINE_LIMIT_BYTES,
    LINE_LIMIT_BYTES + 1,
    2 * LINE_LIMIT_BYTES,
    3 * LINE_LIMIT_BYTES + 7,
  ]) {
    const text = `first\n${'x'.repeat(length)}\nafter\n`;
    for (const size of [1000, 4096, 65_535, 65_536, 65_537, 1_000_000]) {
      assert.deepEqual(split(cutInto(Buffer.from(text), size)), plain(text), `${length} in pieces of ${size}`);
    }
  }
});

void test('F13: a character of UTF-8 is not cut in two by the limit', () => {
  for (const character of ['é', '€', '🧀']) {
    for (let before = 0; before < 4; before += 1) {
      const text = Buffer.from(`${'x'.repeat(before)}${character.repeat(40_000)}\n`);
      for (const size of [65_536, 65_537, 1_000_000, 9973]) {
        const events = split(cutInto(text, size)).map((event) => Buffer.from(event, 'latin1'));
        assert.ok(events.every((event) => event.length <= LINE_LIMIT_BYTES));
        assert.ok(events.slice(0, -1).every((event) => event.length > LINE_LIMIT_BYTES - 4));
        assert.equal(
          events.map((event) => event.toString()).join(''),
          text.toString().trimEnd(),
          `${character} after ${before}`,
        );
      }
    }
  }
});

void test('F13: bytes that are no UTF-8 are split at the limit itself', () => {
  for (const byte of [0x80, 0xff, 0x00, 0xc0]) {
    const events = split(cutInto(Buffer.alloc(3 * LINE_LIMIT_BYTES, byte), 50_000));
    assert.deepEqual(
      events.map((event) => event.length),
      [LINE_LIMIT_BYTES, LINE_LIMIT_BYTES, LINE_LIMIT_BYTES],
      byte.toString(16),
    );
  }
});

void test('random lengths of lines and cuts give what the rule says', () => {
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 60; round += 1) {
    const lengths = Array.from(
      { length: random(12) },
      () => [0, 1, random(200), LINE_LIMIT_BYTES - 2 + random(5), random(200_000)][random(5)] ?? 0,
    );
    const text = lengths.map((length) => `${'y'.repeat(length)}\n`).join('') + 'z'.repeat(random(3));
    const data = Buffer.from(text);
    const pieces: Buffer[] = [];
    for (let at = 0; at < data.length;) {
      const next = at + 1 + random(100_000);
      pieces.push(data.subarray(at, next));
      at = next;
    }
    assert.deepEqual(split(pieces), plain(text));
  }
});
