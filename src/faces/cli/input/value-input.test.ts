import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import type { ValueInput } from '../../../operations/core/cli-face.ts';
import type { Session } from '../connection/session.ts';
import { UsageFailure } from '../syntax/usage.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { withValue } from './value-input.ts';

const SECRET = inputOf('secret set');

function inputOf(path: string): ValueInput {
  return operationVerb(TREE, path).call.stdin ?? assert.fail(path);
}

interface Given {
  readonly typed?: string;
  readonly piped?: readonly (string | Buffer)[];
  readonly noInput?: boolean;
}

function sessionOf({ typed, piped = [], noInput = false }: Given): { session: Session; screen: () => string } {
  const stdin = Object.assign(new PassThrough(), typed === undefined ? {} : { isTTY: true });
  for (const part of typed === undefined ? piped : [typed]) stdin.write(part);
  stdin.end();
  let shown = '';
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      shown += chunk.toString();
      done();
    },
  });
  const session = {
    terminal: { stdin, stderr },
    flags: {},
    options: { noInput },
    verb: { path: 'secret set' },
    fields: { secret: 'net/token' },
  };
  return { session: session as unknown as Session, screen: () => shown };
}

async function valueOf(given: Given): Promise<unknown> {
  const { secret, value } = await withValue(sessionOf(given).session, SECRET);
  assert.equal(secret, 'net/token');
  return value;
}

const usage = (pattern: RegExp) => (error: unknown) => error instanceof UsageFailure && pattern.test(error.message);

test('a piped value loses one line end and nothing else', async () => {
  const cases = {
    x: 'x',
    'x\n': 'x',
    'x\r\n': 'x',
    'x\n\n': 'x\n',
    ' x ': ' x ',
    '\nx': '\nx',
    'a\nb\n': 'a\nb',
    '': '',
    '\n': '',
    '\u{FEFF}x': '\u{FEFF}x',
  };
  for (const [piped, value] of Object.entries(cases))
    assert.equal(await valueOf({ piped: [piped] }), value, JSON.stringify(piped));
});

test('a character split over two reads is one character, and text that is not UTF-8 is refused', async () => {
  const bytes = Buffer.from('a\u{1F511}b');
  assert.equal(await valueOf({ piped: [bytes.subarray(0, 3), bytes.subarray(3)] }), 'a\u{1F511}b');
  await assert.rejects(
    valueOf({ piped: [Buffer.from([0x61, 0xff])] }),
    usage(/^standard input: the value is not UTF-8 text/),
  );
  await assert.rejects(valueOf({ piped: [bytes.subarray(0, 3)] }), usage(/not UTF-8/));
});

test('a value that is too long is not read to its end, and the operation refuses it', async () => {
  const value = String(await valueOf({ piped: Array.from({ length: 100 }, () => 'ü'.repeat(4_000)) }));
  assert.ok(Buffer.byteLength(value) > 65_536 && Buffer.byteLength(value) < 65_600);
});

test('on a terminal the value is asked for and not shown', async () => {
  const { session, screen } = sessionOf({ typed: 'hunter2 \u{1F511}\nanother line\n' });
  assert.equal((await withValue(session, SECRET))['value'], 'hunter2 \u{1F511}');
  assert.equal(screen(), 'Value of net/token, one line, not shown: \n');
});

test('without an answer, or with Ctrl-C, nothing is set', async () => {
  await assert.rejects(valueOf({ typed: '' }), usage(/no value was given; nothing was done/));
  await assert.rejects(valueOf({ typed: 'half a val\u0003' }), usage(/no value was given; nothing was done/));
  await assert.rejects(
    valueOf({ typed: 'x\n', noInput: true }),
    usage(/expected the value on standard input or in --file/),
  );
});

test('a rule is read from its file or from standard input, never from a prompt', async () => {
  const rule = inputOf('rule add');
  const { session } = sessionOf({ piped: ['when: true\n'] });
  assert.equal((await withValue(session, rule))['text'], 'when: true');
  const typed = sessionOf({ typed: 'when: true\n' });
  await assert.rejects(
    async () => withValue(typed.session, rule),
    usage(/expected the rule on standard input or in --file/),
  );
  const wrong = sessionOf({ piped: [Buffer.from([0xff])] });
  await assert.rejects(withValue(wrong.session, rule), usage(/^standard input: the rule is not UTF-8 text\.$/));
});
