import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSecrets, createRedactor, redactText } from './redaction.ts';

const BYTES = Buffer.from('pa$$ "w<ö>rd"/+\'1\\2~&=z');

function redact(secrets: ReturnType<typeof compileSecrets>, pieces: Buffer[]): Buffer {
  const redactor = createRedactor(secrets);
  return Buffer.concat([...pieces.map((piece) => redactor.push(piece)), redactor.end()]);
}

/** A dump of the text as a tool prints it: an offset, the digits of 16 bytes, and these bytes as text. */
const DUMPS: Readonly<Record<string, (bytes: Buffer, offset: string) => string>> = {
  xxd: (bytes, offset) =>
    `${offset}: ${(bytes.toString('hex').match(/.{1,4}/g) ?? []).join(' ').padEnd(39)}  ${visible(bytes)}`,
  'xxd -g1 -u': (bytes, offset) =>
    `${offset}: ${(bytes.toString('hex').toUpperCase().match(/../g) ?? []).join(' ').padEnd(47)}  ${visible(bytes)}`,
  'hexdump -C': (bytes, offset) =>
    `${offset}  ${halfOf(bytes.subarray(0, 8))}  ${halfOf(bytes.subarray(8))}  |${visible(bytes)}|`,
  'od -t x1': (bytes, offset) => `${offset} ${(bytes.toString('hex').match(/../g) ?? []).join(' ')}`,
};

function halfOf(bytes: Buffer): string {
  return (bytes.toString('hex').match(/../g) ?? []).join(' ').padEnd(23);
}

function visible(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
}

test(
  'T55: in a dump of hex digits no line keeps more than 5 bytes of a value, neither as digits nor ' +
    'as text, wherever the stream is cut',
  () => {
    const value = Buffer.from('correct-Horse7battery+staple/42x');
    const compiled = compileSecrets([value]);
    for (const [name, line] of Object.entries(DUMPS)) {
      for (let before = 0; before < 16; before += 1) {
        const bytes = Buffer.concat([Buffer.alloc(before, '!'), value, Buffer.from('~~~~~~~~')]);
        const lines = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, i) =>
          line(bytes.subarray(16 * i, 16 * i + 16), (16 * i).toString(16).padStart(8, '0')),
        );
        const text = Buffer.from(`start\n${lines.join('\n')}\nend of it\n`);
        const whole = redact(compiled, [text]);
        const kept = whole.toString();
        const digits = kept.replace(/[^0-9a-f\n]/gi, '').toLowerCase();
        for (let at = 0; at + 6 <= value.length; at += 1) {
          const part = value.subarray(at, at + 6);
          assert.ok(
            !digits.includes(part.toString('hex')) && !kept.includes(part.toString()),
            `${name} after ${before} bytes keeps ${part.toString()}:\n${kept}`,
          );
        }
        assert.ok(kept.startsWith('start\n0000') && kept.endsWith('\nend of it\n'), kept);
        assert.equal(kept.split('\n').length, lines.length + 3);
        for (let cut = before % 4; cut <= text.length; cut += 4)
          assert.deepEqual(
            redact(compiled, [text.subarray(0, cut), text.subarray(cut)]),
            whole,
            `${name} after ${before} bytes, cut at ${cut}`,
          );
        if (before === 5)
          assert.deepEqual(
            redact(
              compiled,
              Array.from(text, (byte) => Buffer.of(byte)),
            ),
            whole,
            `${name}: byte by byte`,
          );
      }
    }
  },
);

test('Hex digits that are not those of a value stay: times, ids, addresses and dumps', () => {
  const compiled = compileSecrets([
    BYTES,
    Buffer.from('correct horse battery staple'),
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.from('aaaaaaaa'),
  ]);
  for (const text of [
    '2026-11-22 06:22:04.123 00:00:00:00:00:00 aa:bb:cc:dd:ee:ff',
    'commit deadbeefcafe0123 0x61, 0x61, 0x61, 0x61',
    '00000000: 0000 0000 6161 6161 6162  ....aaaaab',
    'dead beef  two blanks  and more',
    '',
  ]) {
    assert.equal(redactText(text, compiled), text);
    for (let cut = 0; cut < text.length; cut += 1)
      assert.equal(redact(compiled, [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))]).toString(), text);
  }
});
