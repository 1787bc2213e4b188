/** Bodies that are too large or ambiguous are refused; text in any language is passed on unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { exchange, open, request, split, untilClosed } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';

const MIB = 1_048_576;
const RUN = '/api/v1/commands/run';

interface Bomb {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message: RegExp;
}

const ok = '{"inventory":"localhost","command":["true"]}';

const BOMBS: readonly Bomb[] = [
  { name: 'a body of 1 MiB and one byte', body: `{"x":"${'a'.repeat(MIB)}"}`, message: /at most 1048576 bytes/ },
  {
    name: '100,000 levels of arrays',
    body: `{"command":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    message: /at most 32 levels/,
  },
  { name: '100,000 levels of objects', body: '{"a":'.repeat(100_000), message: /at most 32 levels/ },
  {
    name: '100,000 keys',
    body: JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_each, i) => [`k${i}`, 1]))),
    message: /no such field/,
  },
  {
    name: 'a key twice',
    body: `{"inventory":"localhost",${ok.slice(1)}`,
    message: /"inventory" was given more than once/,
  },
  {
    name: 'a key twice in two spellings',
    body: `{"\\u0069nventory":"x",${ok.slice(1)}`,
    message: /"inventory" was given more than once/,
  },
  {
    name: 'a key twice, deep down',
    body: '{"inventory":"localhost","command":[{"a":1,"a":2}]}',
    message: /"a" was given more than once/,
  },
  { name: '__proto__', body: `{"__proto__":{"polluted":1},${ok.slice(1)}`, message: /__proto__/ },
  {
    name: '__proto__ in another spelling, deep down',
    body: '{"command":[{"\\u005f_proto__":{"polluted":1}}]}',
    message: /__proto__/,
  },
  {
    name: 'constructor',
    body: `{"constructor":{"prototype":{"polluted":1}},${ok.slice(1)}`,
    message: /"constructor": no such field/,
  },
  {
    name: 'a number beyond all numbers',
    body: '{"inventory":"localhost","command":["true"],"egress_ports":[1e999]}',
    message: /^egress_ports\.0: /,
  },
  {
    name: 'a number of 100,000 digits',
    body: `{"inventory":"localhost","command":["true"],"egress_ports":[${'9'.repeat(100_000)}]}`,
    message: /^egress_ports\.0: /,
  },
  { name: 'invalid UTF-8', body: Buffer.from('{"inventory":"\xff\xfe"}', 'latin1'), message: /expected UTF-8/ },
  { name: 'overlong UTF-8', body: Buffer.from('{"inventory":"\xc0\xae"}', 'latin1'), message: /expected UTF-8/ },
  { name: 'UTF-16', body: Buffer.from(ok, 'utf16le'), message: /The body: / },
  { name: 'an array', body: '[]', message: /expected a JSON object/ },
  { name: 'a string', body: '"x"', message: /expected a JSON object/ },
  { name: 'null', body: 'null', message: /expected a JSON object/ },
  { name: 'two objects', body: '{}{}', message: /expected JSON/ },
  { name: 'a comment', body: `/* */${ok}`, message: /expected JSON/ },
  { name: 'a trailing comma', body: '{"inventory":"localhost",}', message: /expected JSON/ },
  { name: 'an open string', body: '{"inventory":"', message: /expected JSON/ },
  { name: 'an open key with an escape', body: '{"\\', message: /expected JSON/ },
  { name: 'gzip', body: gzipSync(ok), headers: { 'content-encoding': 'gzip' }, message: /^Content-Encoding: / },
  {
    name: 'deflate',
    body: deflateSync(ok),
    headers: { 'content-encoding': 'deflate' },
    message: /^Content-Encoding: /,
  },
  { name: 'text/plain', body: ok, headers: { 'content-type': 'text/plain' }, message: /^Content-Type: / },
  {
    name: 'a form',
    body: 'inventory=localhost',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    message: /^Content-Type: /,
  },
  {
    name: 'a multipart form',
    body: '--x',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    message: /^Content-Type: /,
  },
  {
    name: 'JSON in UTF-16 by name',
    body: ok,
    headers: { 'content-type': 'application/json; charset=utf-16' },
    message: /^Content-Type: /,
  },
  {
    name: 'something like JSON',
    body: ok,
    headers: { 'content-type': 'application/jsonx' },
    message: /^Content-Type: /,
  },
];

test('T49: Each hostile body is quickly answered with 400 and the expectation, and queues nothing', async (t) => {
  const program = await startProgram(t);
  await send(program, 'operator', { method: 'GET', path: '/api/v1/whoami' });
  for (const { name, body, headers, message } of BOMBS) {
    const begun = threadCpuMs();
    const answer = await send(program, 'operator', {
      method: 'POST',
      path: RUN,
      body,
      ...(headers === undefined ? {} : { headers }),
    });
    const ms = threadCpuMs() - begun;
    assert.equal(answer.status, 400, `${name}: ${answer.text}`);
    const { code, message: result } = (answer.json as { error: { code: string; message: string } }).error;
    assert.equal(code, 'invalid_argument', name);
    assert.match(result, message, name);
    assert.ok(answer.text.length < 1_000, `${name}: the answer repeats the body`);
    // Some hundredths of a second, and not what a body could make of it: listener and client share this thread.
    assert.ok(ms < 3_000, `${name} took ${ms.toFixed(0)} ms`);
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  assert.match((await send(program, 'operator', { method: 'GET', path: '/api/v1/jobs' })).text, /"data":\[\]/);
});

test('T49: A body without an end is refused at 1 MiB, and not read on', async (t) => {
  const program = await startProgram(t);
  for (const framing of ['Transfer-Encoding: chunked', 'Content-Length: 1073741824']) {
    const socket = await open(program.port);
    socket.write(
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${program.tokens.operator}\r\n${framing}\r\n\r\n`,
    );
    const chunk = Buffer.alloc(65_536, 'a');
    const piece = framing.startsWith('T')
      ? Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')])
      : chunk;
    let sent = 0;
    const pump = (): void => {
      while (sent < 64 * MIB && socket.writable && socket.write(piece)) sent += piece.length;
      if (socket.writable) socket.once('drain', pump);
    };
    pump();
    const { status, head, body } = split(await untilClosed(socket));
    assert.equal(status, 400, framing);
    assert.match(head, /\r\nConnection: close/i);
    assert.match(body, /at most 1048576 bytes/);
    assert.ok(sent < 16 * MIB, `${sent} bytes were taken of a body that was refused`);
  }
});

test('T49: Who may not call is refused before any body is read', async (t) => {
  const program = await startProgram(t);
  const asks = { 401: {}, 403: { Authorization: `Bearer ${program.tokens.readonly}` } };
  for (const [status, headers] of Object.entries(asks)) {
    const answer = split(
      await exchange(program.port, request('POST', RUN, { ...headers, 'Content-Length': '1073741824' }, '{')),
    );
    assert.equal(answer.status, Number(status));
    assert.match(answer.head, /\r\nConnection: close/i);
  }
});

test('A refused small body leaves the connection usable', async (t) => {
  const program = await startProgram(t);
  const socket = await open(program.port);
  const ask = `POST ${RUN} HTTP/1.1\r\nHost: x\r\nContent-Length: ${ok.length}\r\n\r\n${ok}`;
  socket.write(ask + ask + request('POST', RUN, { 'Content-Length': String(ok.length) }, ok));
  const answers = (await untilClosed(socket)).match(/HTTP\/1\.1 401 /g);
  assert.equal(answers?.length, 3);
});

test('A GET with a body is refused, because the body would be ignored silently', async (t) => {
  const program = await startProgram(t);
  const headers = { Authorization: `Bearer ${program.tokens.readonly}`, 'Content-Length': '11' };
  const { status, body } = split(await exchange(program.port, request('GET', '/api/v1/jobs', headers, '{"limit":1}')));
  assert.deepEqual([status, /The body: a GET must not have one/.test(body)], [400, true]);
});

test('A write may come without a body, with an empty one, and with an empty object', async (t) => {
  const program = await startProgram(t);
  for (const body of [undefined, '', '{}', ' {} ']) {
    const answer = await send(program, 'operator', {
      method: 'POST',
      path: '/api/v1/maintenance/cordon',
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, 200, JSON.stringify(body));
  }
});

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</script><svg/onload=alert(1)>',
  '\u001b[31mred\u001b[0m\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u0007\b\u007f\u009b31m',
  '\u202eevil\u202c \u2066x\u2069 \u200b\ufeff',
  '\u2028\u2029',
  'data: forged\\n\\nevent: end',
  '{"kind":"error"}',
  '\ud83d\ude00 \u0301',
];

test('T44: Hostile output is data in JSON and streams: no byte lost, no line forged, no HTML escape', async (t) => {
  const program = await startProgram(t);
  const job = await runPrinting(program, HOSTILE);
  const listed = await send(program, 'readonly', { method: 'GET', path: `/api/v1/jobs/${job}/events` });
  const logs = (listed.json as { data: { type: string; text: string }[] }).data.filter(({ type }) => type === 'log');
  assert.deepEqual(
    logs.map(({ text }) => text),
    HOSTILE,
  );
  assert.ok(listed.text.includes('<script>'));
  assert.equal(listed.headers.get('content-type'), 'application/json; charset=utf-8');

  const stream = await send(program, 'readonly', { method: 'GET', path: `/api/v1/jobs/${job}/stream` });
  const events = stream.text.split('\n\n').filter((each) => each.includes('event: log'));
  assert.equal(events.length, HOSTILE.length);
  const texts = events.map((each) => (JSON.parse(each.split('\ndata: ')[1] ?? '') as { text: string }).text);
  assert.deepEqual(texts, HOSTILE);
  assert.equal(stream.text.match(/^event: end$/gm)?.length, 1);
});

test('T44: A hostile name in a refusal is data, and cut', async (t) => {
  const program = await startProgram(t);
  for (const text of HOSTILE) {
    const answer = await send(program, 'readonly', {
      method: 'GET',
      path: `/api/v1/jobs?${encodeURIComponent(text.repeat(50))}=1`,
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.ok(answer.text.length < 1_200);
  }
});

async function runPrinting(program: Program, lines: readonly string[]): Promise<string> {
  const job = await program.queue();
  await program.claim();
  await program.print(job, lines);
  await program.finish(job, { state: 'succeeded', exitCode: 0 });
  return job;
}
