import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { PatientWriter } from './patient-writer.ts';

const PART = 'x'.repeat(20_000);

/** A reader that takes all at once, or nothing. A ServerResponse is a Writable as far as the writer needs it. */
function reader(takes: boolean): { response: ServerResponse; got: () => string } {
  const got: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      got.push(chunk);
      if (takes) done();
    },
  });
  return { response: stream as unknown as ServerResponse, got: () => Buffer.concat(got).toString() };
}

test('T53: A fast reader does not block the event loop for the others', async () => {
  const { response, got } = reader(true);
  const writer = new PatientWriter(response, systemClock, { bufferBytes: 131_072, drainMs: 1_000 });
  const others = { turns: 0, over: false };
  const turn = (): void => {
    others.turns += 1;
    if (!others.over) setImmediate(turn);
  };
  setImmediate(turn);
  for (let i = 0; i < 50; i += 1) assert.equal(await writer.write(PART), true);
  others.over = true;
  writer.end();
  assert.equal(got().length, 50 * PART.length);
  assert.ok(others.turns >= 50, `${others.turns} turns for 50 parts`);
});

test('F15: A reader that reads nothing loses its connection after its buffer was full for the time limit', async () => {
  const { response } = reader(false);
  const writer = new PatientWriter(response, systemClock, { bufferBytes: 100_000, drainMs: 20 });
  let written = 0;
  while (await writer.write(PART)) written += 1;
  assert.equal(written, 5);
  assert.equal(response.destroyed, true);
  assert.equal(await writer.write(PART), false);
});

test('T87: of a long part no more is handed on than there is room for', async () => {
  for (const part of ['x'.repeat(1_000_000), Buffer.alloc(1_000_000)]) {
    const { response } = reader(false);
    const write = response.write.bind(response);
    let handedOn = 0;
    response.write = (chunk: Buffer) => {
      handedOn += chunk.length;
      return write(chunk);
    };
    const writer = new PatientWriter(response, systemClock, { bufferBytes: 100_000, drainMs: 20 });
    assert.equal(await writer.write(part), false);
    assert.ok(handedOn > 100_000 && handedOn < 200_000, `${handedOn} bytes`);
  }
});

test('a long part arrives whole, also where a character has several bytes', async () => {
  const { response, got } = reader(true);
  const writer = new PatientWriter(response, systemClock, { bufferBytes: 100_000, drainMs: 1_000 });
  const part = `a${'😀'.repeat(50_000)}`;
  assert.equal(await writer.write(part), true);
  writer.end();
  assert.equal(got(), part);
});

test('A waiting write gives up when its signal aborts', async () => {
  const { response } = reader(false);
  const stop = new AbortController();
  const writer = new PatientWriter(response, systemClock, { bufferBytes: 1, drainMs: 60_000 }, stop.signal);
  const waiting = writer.write(PART);
  setImmediate(() => stop.abort());
  assert.equal(await waiting, false);
});
