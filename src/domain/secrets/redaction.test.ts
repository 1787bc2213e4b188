import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64, BYTES, SHAPES } from '../../../test/support/fixtures/secret-shapes.ts';
import { secretForms } from './redaction-forms.ts';
import { compileSecrets, createRedactor, REDACTED, redactText } from './redaction.ts';

const NOTHING = Buffer.alloc(0);

/** All of the forms that must not be found in what was let through. */
const FORMS = secretForms(BYTES);

function redact(secrets: Buffer[] | ReturnType<typeof compileSecrets>, pieces: Buffer[]): Buffer {
  const redactor = createRedactor(secrets);
  return Buffer.concat([...pieces.map((piece) => redactor.push(piece)), redactor.end()]);
}

/** The slow and plain truth: bytes that belong to any occurrence go, occurrences that overlap are one mark. */
function naive(forms: Buffer[], text: Buffer): Buffer {
  const found: [number, number][] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
  }
  found.sort(([a, x], [b, y]) => a - b || y - x);
  const parts: Buffer[] = [];
  let done = 0;
  for (const [start, end] of found) {
    if (start >= done) parts.push(text.subarray(done, start), Buffer.from(REDACTED));
    done = Math.max(done, end);
  }
  return Buffer.concat([...parts, text.subarray(done)]);
}

/** A small generator with a seed, so that a failure can be run again. */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

void test('T55: no shape of a secret survives, wherever the stream is cut in two', () => {
  const compiled = compileSecrets([BYTES]);
  assert.ok(Object.keys(SHAPES).length >= 40);
  for (const [name, shape] of Object.entries(SHAPES)) {
    const text = Buffer.concat([
      Buffer.from('before '),
      Buffer.isBuffer(shape) ? shape : Buffer.from(shape),
      Buffer.from(' after\n'),
    ]);
    const whole = redact(compiled, [text]);
    assert.ok(whole.includes(REDACTED), `${name}: the mark replaces it`);
    for (const form of FORMS) assert.ok(!whole.includes(form), `${name}: a form is left in ${whole.toString()}`);
    assert.ok(whole.includes('before ') && whole.includes(' after\n'), `${name}: what is around it stays`);
    assert.ok(whole.length <= text.length - BYTES.length + 2 * REDACTED.length + 4, `${name}: the whole value is gone`);
    for (let cut = 0; cut <= text.length; cut += 1) {
      assert.deepEqual(redact(compiled, [text.subarray(0, cut), text.subarray(cut)]), whole, `${name}: cut at ${cut}`);
    }
    assert.deepEqual(
      redact(
        compiled,
        Array.from(text, (byte) => Buffer.of(byte)),
      ),
      whole,
      `${name}: byte by byte`,
    );
  }
});

void test('T55: base64 and hex that a tool folds into lines are found', () => {
  const long = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.repeat(3));
  for (const [text, width] of [
    [base64(long), 76],
    [base64(long), 64],
    [base64(`${long.toString()}\n`), 76],
    [long.toString('hex'), 60],
  ] as const) {
    for (const end of ['\n', '\r\n']) {
      const folded = text.match(new RegExp(`.{1,${width}}`, 'g'))!.join(end);
      const kept = redactText(`>${folded}<`, [long]);
      assert.ok(kept.startsWith(`>${REDACTED}`) && kept.length <= REDACTED.length + 6, kept);
    }
  }
});

void test('T55: a key of several lines is found whole, line by line, indented and with other line ends', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\nkiG9w0BAQEFAASCBK\nxyz\n-----END KEY-----\n';
  const compiled = compileSecrets([Buffer.from(key)]);
  for (const shape of [
    key,
    key.trimEnd(),
    key.replaceAll('\n', '\r\n'),
    key.replaceAll('\n', '\n    '),
    JSON.stringify(key),
  ]) {
    const kept = redactText(`a ${shape} b`, compiled);
    for (const line of ['BEGIN', 'MIIE', 'kiG9', 'END']) assert.ok(!kept.includes(line), kept);
  }
});

void test('T55: random secrets, texts and cuts give what a plain search gives', () => {
  for (let seed = 1; seed <= 1500; seed += 1) {
    const random = seeded(seed);
    const letters = 2 + random(3);
    const word = (length: number): Buffer => Buffer.from(Array.from({ length }, () => 97 + random(letters)));
    const secrets = Array.from({ length: 1 + random(4) }, () => word(1 + random(9)));
    const text = Buffer.concat(
      Array.from({ length: random(30) }, () => (random(3) === 0 ? secrets[random(secrets.length)]! : word(random(6)))),
    );
    const pieces: Buffer[] = [];
    for (let at = 0; at < text.length;) {
      const next = Math.min(text.length, at + random(12));
      pieces.push(text.subarray(at, next));
      at = next;
    }
    assert.deepEqual(redact(secrets, pieces), naive(secrets.flatMap(secretForms), text), `seed ${seed}`);
  }
});

void test('random bytes with secrets strewn in give what a plain search gives', () => {
  const secrets = [BYTES, Buffer.from([0, 255, 10, 13, 0, 254, 1]), Buffer.from('correct horse battery staple')];
  const forms = secrets.flatMap(secretForms);
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seeded(seed);
    const noise = (): Buffer => Buffer.from(Array.from({ length: random(80) }, () => random(256)));
    const part = (): Buffer => (random(2) === 0 ? noise() : forms[random(forms.length)]!);
    const text = Buffer.concat(
      Array.from({ length: 20 }, () => {
        const bytes = part();
        return random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
      }),
    );
    const cut = random(text.length);
    assert.deepEqual(redact(secrets, [text.subarray(0, cut), text.subarray(cut)]), naive(forms, text), `seed ${seed}`);
  }
});

void test('without secrets, and without a trace of one, the very same buffer comes back', () => {
  const chunk = Buffer.from('nothing to hide here');
  assert.equal(createRedactor([]).push(chunk), chunk);
  assert.equal(createRedactor([NOTHING]).push(chunk), chunk);
  assert.equal(createRedactor([Buffer.from('unseen')]).push(chunk), chunk);
});

void test('only what may be the start of a secret is held back, and at the end it is given out', () => {
  const redactor = createRedactor([Buffer.from('abcdefgh')]);
  assert.equal(redactor.push(Buffer.from('xyz abc')).toString(), 'xyz ');
  assert.equal(redactor.push(Buffer.from('de')).toString(), '');
  assert.equal(redactor.push(Buffer.from('x')).toString(), 'abcdex');
  assert.equal(redactor.push(Buffer.from('abcdefgh')).toString(), REDACTED);
  assert.equal(redactor.push(Buffer.from('abcdefg')).toString(), '');
  assert.equal(redactor.end().toString(), 'abcdefg');
});

void test('a line end is never held back for a secret that begins or ends with one', () => {
  const redactor = createRedactor([Buffer.from('\nsecret-value\n')]);
  assert.equal(redactor.push(Buffer.from('line\n')).toString(), 'line\n');
  assert.equal(redactor.push(Buffer.from('secret-value\n')).toString(), `${REDACTED}\n`);
});

void test('a secret within another secret is one mark', () => {
  assert.equal(
    redactText('my-long-secret my-long', [Buffer.from('my-long'), Buffer.from('my-long-secret')]),
    `${REDACTED} ${REDACTED}`,
  );
  assert.equal(redactText('abcdefghijkl', [Buffer.from('abcdefgh'), Buffer.from('efghijkl')]), REDACTED);
});

void test('a value below 6 bytes is replaced as it is', () => {
  assert.equal(redactText('my pin is pin', [Buffer.from('pin\n')]), `my ${REDACTED} is ${REDACTED}`);
  assert.equal(redactText('q', [Buffer.from('q')]), REDACTED);
  assert.equal(redactText('NDcxMQ== 34373131', [Buffer.from('4711')]), `${REDACTED} ${REDACTED}`);
});

void test('text without a secret keeps its lone surrogates', () => {
  assert.equal(redactText('a\ud800b', [BYTES]), 'a\ud800b');
  assert.equal(redactText('', [BYTES]), '');
});

test('T55: a folded encoding is found line by line, also with the words of another tool before each line', () => {
  const value = Buffer.from(
    Array.from({ length: 8 }, (_, n) => `line ${n} of a private key, which is rather long`).join('\n'),
  );
  const lines = (value.toString('base64').match(/.{1,76}/g) ?? []).map(
    (line) => `terraform_data.x (local-exec): ${line}`,
  );
  const redacted = redactText(lines.join('\n'), [value]);
  for (const line of value.toString('base64').match(/.{1,76}/g) ?? []) assert.ok(!redacted.includes(line), line);
});

test('T55: escapes of JSON are found in either case of their digits, and as .NET makes them', () => {
  const value = 'Abc<&>é/+ "x"DEF99';
  for (const form of [
    'Abc\\u003C\\u0026\\u003Eé/+ \\"x\\"DEF99',
    'Abc\\u003c\\u0026\\u003eé/+ \\"x\\"DEF99',
    'Abc\\u003C\\u0026\\u003E\\u00E9/\\u002B \\u0022x\\u0022DEF99',
  ]) {
    assert.equal(redactText(`a ${form} b`, [Buffer.from(value)]), `a ${REDACTED} b`, form);
  }
});
