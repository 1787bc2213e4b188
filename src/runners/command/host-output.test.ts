import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CUT_MARK } from '../../domain/commands/hosts.ts';
import { HostOutput } from './host-output.ts';

/** What is recorded of these writes. */
function recorded(...writes: string[]): string {
  const { stdout } = new HostOutput('web1', 1_000).sifts;
  return Buffer.concat([...writes.map((text) => stdout.push(Buffer.from(text))), stdout.end()]).toString();
}

test('the name of the host is before each line, and after each carriage return that text follows', () => {
  assert.equal(recorded('a\nb'), 'web1: a\nweb1: b');
  assert.equal(recorded('\n\n'), 'web1: \nweb1: \n');
  assert.equal(recorded('a\rb\n'), 'web1: a\rweb1: b\n');
  assert.equal(recorded('a\r\nb\r\n'), 'web1: a\r\nweb1: b\r\n');
  assert.equal(recorded('10%\r\r20%\r'), 'web1: 10%\r\rweb1: 20%\r');
  assert.equal(recorded('a\r', 'b', '\r', '\nc'), 'web1: a\rweb1: b\r\nweb1: c');
  assert.equal(recorded('\rb'), 'web1: \rweb1: b');
  assert.equal(recorded(''), '');
});

test('the console shows no line of a host under the name of another one', () => {
  for (const text of ['a\rdb1: forged', '\rdb1: forged', 'a\r\rdb1: forged\r', '\r\u001b[1mdb1: forged']) {
    // Of a line that was written over, the console shows the last text.
    const shown = recorded(text).replace(/\r+$/, '').split('\r').at(-1);
    assert.equal(shown?.replace('\u001b[1m', ''), 'web1: db1: forged');
  }
});

test('the output of a host is kept as it came', () => {
  const output = new HostOutput('web1', 5);
  output.sifts.stdout.push(Buffer.from('a\rb\n'));
  output.sifts.stderr.push(Buffer.from('c'));
  assert.deepEqual([output.stdout, output.stderr], ['a\rb\n', 'c']);
});

test('output that comes byte by byte is kept, and cut at the limit', () => {
  const bytesMax = 1_000;
  const output = new HostOutput('web1', bytesMax);
  for (let at = 0; at <= bytesMax; at += 1) output.sifts.stdout.push(Buffer.from([at % 128]));
  const text = output.stdout;
  assert.equal(text.slice(1, 128), Buffer.from(Array.from({ length: 127 }, (_, at) => at + 1)).toString());
  assert.equal(text.slice(bytesMax), `\n${CUT_MARK}`);
});
