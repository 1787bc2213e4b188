import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ServerEvent, ServerEventParser } from './sse.ts';

const STREAM =
  '\uFEFF: a comment\n\nevent: log\r\nid: 7\r\ndata: {"text":"ä 😀"}\r\n\r\n: beat\rdata: one\rdata:  ' +
  'two\r\rretry: 5\ndata\n\nevent: nothing\n\nid: 9\nevent: end\ndata:x\n\ndata: unfinished';
const EVENTS: readonly ServerEvent[] = [
  { event: 'log', id: '7', data: '{"text":"ä 😀"}' },
  { event: 'message', id: undefined, data: 'one\n two' },
  { event: 'message', id: undefined, data: '' },
  { event: 'end', id: '9', data: 'x' },
];

function parse(pieces: readonly string[]): ServerEvent[] {
  const parser = new ServerEventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

test('events come out as the standard says, whatever ends a line', () => {
  assert.deepEqual(parse([STREAM]), EVENTS);
});

test('events come out the same wherever the stream is cut in two', () => {
  for (let at = 0; at <= STREAM.length; at += 1)
    assert.deepEqual(parse([STREAM.slice(0, at), STREAM.slice(at)]), EVENTS, `cut at ${at}`);
});

test('events come out the same letter by letter', () => {
  assert.deepEqual(parse(STREAM.split('')), EVENTS);
});

test('an event without an end is refused before it fills the memory', () => {
  const parser = new ServerEventParser();
  const piece = 'x'.repeat(1024 * 1024);
  parser.push(`data: ${piece}`);
  assert.throws(() => {
    for (let i = 0; i < 8; i += 1) parser.push(piece);
  }, RangeError);
});

test('an id with a NUL is no id', () => {
  assert.deepEqual(parse(['id: 1\0\ndata: x\n\n']), [{ event: 'message', id: undefined, data: 'x' }]);
});
