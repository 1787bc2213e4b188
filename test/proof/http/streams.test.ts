/** Streams: their caps, their end with the credential, and readers that are slow, gone, or come back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { heldMib } from '../../support/measure/held-memory.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { open, untilClosed, untilHas } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';

const HOUR_MS = 3_600_000;

const path = (job: string): string => `/api/v1/jobs/${job}/stream`;

function ask(job: string, token: string): string {
  return `GET ${path(job)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

/** A stream that has sent its first event. */
async function follow(program: Program, job: string, token: string): Promise<Socket> {
  const socket = await open(program.port);
  socket.write(ask(job, token));
  await untilHas(socket, 'event: state');
  return socket;
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function running(program: Program): Promise<string> {
  const job = await program.queue();
  await program.claim();
  return job;
}

function seqsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
}

test('A follower gets each event as it comes, and the end with the job', async (t) => {
  const program = await startProgram(t);
  const job = await running(program);
  const socket = await follow(program, job, program.tokens.readonly);
  const first = untilHas(socket, '"text":"one"');
  await program.print(job, ['one']);
  await first;
  const rest = untilClosed(socket);
  await program.print(job, ['two']);
  await program.finish(job, { state: 'failed', exitCode: 3 });
  await until('the stream is closed', () => program.face.load().streams === 0);
  socket.end();
  const text = await rest;
  assert.match(text, /"text":"two"/);
  assert.match(text, /event: end\ndata: \{"state":"failed","exit_code":3\}\n\n/);
});

test('A quiet stream is kept alive by a comment', async (t) => {
  const program = await startProgram(t, { limits: { heartbeatMs: 20 } });
  const socket = await follow(program, await program.queue(), program.tokens.readonly);
  await untilHas(socket, ': still here\n\n');
  socket.destroy();
});

test('One identity gets four streams, all together eight, and a refusal says to retry in 30 s', async (t) => {
  const program = await startProgram(t);
  const job = await program.queue();
  const twin = await program.token('readonly', { owner: 'readonly' });
  const refused = async (token: string): Promise<string> => {
    const response = await fetch(program.url + path(job), { headers: { authorization: `Bearer ${token}` } });
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '30']);
    return response.text();
  };
  const sockets = [];
  for (const token of [program.tokens.readonly, program.tokens.readonly, twin, twin])
    sockets.push(await follow(program, job, token));
  assert.match(await refused(twin), /"kind":"error","error":\{"code":"streams_over_cap"/);
  for (let i = 0; i < 4; i += 1) sockets.push(await follow(program, job, program.tokens.operator));
  assert.equal(program.face.load().places, 8);
  await refused(program.tokens.approve);
  await refused(program.tokens.operator);
  sockets[0]?.destroy();
  await until('a place is free', () => program.face.load().places === 7);
  sockets.push(await follow(program, job, program.tokens.approve));
  for (const socket of sockets) socket.destroy();
  await until('all places are free', () => program.face.load().places === 0);
});

test('300 streams that are opened and left, in every way, leave no place taken', async (t) => {
  const program = await startProgram(t);
  const job = await program.queue();
  const ways: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.end(),
    (socket) => socket.resetAndDestroy(),
  ];
  for (let i = 0; i < 300; i += 4) {
    await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        const socket = await open(program.port);
        socket.write(ask(job, program.tokens.readonly));
        if (lane !== 3)
          await Promise.race([untilHas(socket, '\r\n\r\n').catch(() => undefined), once(socket, 'close')]);
        ways[(i + lane) % 3]?.(socket);
      }),
    );
    await until('the places are free again', () => program.face.load().places === 0);
  }
  assert.deepEqual([program.face.load().streams, program.face.load().places], [0, 0]);
  const socket = await follow(program, job, program.tokens.readonly);
  socket.destroy();
});

test('T07: A stream ends soon after its token was revoked, has expired, or its session was ended', async (t) => {
  let laterMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
  const program = await startProgram(t, { clock, limits: { revalidateMs: 20 } });
  const job = await program.queue();
  const token = await program.token('readonly');
  const revoked = await follow(program, job, token);
  const gone = untilClosed(revoked);
  await program.revoke(token);
  await gone;

  const expiring = await follow(program, job, await program.token('readonly', { expiresAt: clock.now() + HOUR_MS }));
  laterMs = HOUR_MS;
  await untilClosed(expiring);

  const cookie = await program.session(program.tokens.operator);
  const socket = await open(program.port);
  socket.write(`GET ${path(job)} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`);
  await untilHas(socket, 'event: state');
  const ended = untilClosed(socket);
  await program.authenticator.signOut(cookie.slice('svc_session='.length));
  await ended;
  await until('no stream is open', () => program.face.load().streams === 0);
});

test('T07: A stream of a token that stays valid stays open over many checks', async (t) => {
  const program = await startProgram(t, { limits: { revalidateMs: 5, heartbeatMs: 40 } });
  const socket = await follow(program, await program.queue(), program.tokens.readonly);
  for (let i = 0; i < 3; i += 1) await untilHas(socket, ': still here\n\n');
  assert.equal(program.face.load().streams, 1);
  socket.destroy();
});

test('F15: A client that never reads is cut off, costs little memory, and can resume later', async (t) => {
  const program = await startProgram(t, { limits: { drainMs: 300 } });
  const job = await running(program);
  const line = 'x'.repeat(60_000);
  for (let i = 0; i < 400; i += 4)
    await program.print(
      job,
      [0, 1, 2, 3].map((n) => `${i + n} ${line}`),
    );
  const before = heldMib();
  const sockets = await Promise.all([1, 2, 3, 4].map(() => open(program.port)));
  for (const socket of sockets) {
    socket.pause();
    socket.write(ask(job, program.tokens.readonly));
  }
  await until('the streams are open', () => program.face.load().streams === 4);
  let most = before;
  await until('they are cut off', () => {
    most = Math.max(most, heldMib());
    return program.face.load().streams === 0;
  });
  assert.equal(program.face.load().places, 0);
  // 24 MB wait in the store for each of the four; the kernel's buffers are outside of this process.
  const message = `${(most - before).toFixed(0)} MiB were held for four clients that read nothing`;
  t.diagnostic(message);
  assert.ok(most - before < 16, message);

  await program.finish(job, { state: 'succeeded', exitCode: 0 });
  const [first] = sockets;
  assert.ok(first !== undefined);
  const text = untilClosed(first);
  first.resume();
  const partly = await text;
  const seen = seqsIn(partly.slice(0, partly.lastIndexOf('\n\n') + 2));
  const last = seen.at(-1) ?? 0;
  assert.ok(last > 0 && last < 401);
  const rest = await send(program, 'readonly', {
    method: 'GET',
    path: path(job),
    headers: { 'last-event-id': String(last) },
  });
  assert.deepEqual(
    [...seen, ...seqsIn(rest.text)],
    Array.from({ length: 402 }, (_each, i) => i + 1),
  );
  assert.match(rest.text, /event: end\n/);
  for (const socket of sockets) socket.destroy();
});

test('F15: A slow reader gets everything, once and in order', async (t) => {
  const program = await startProgram(t);
  const job = await running(program);
  for (let i = 0; i < 100; i += 1)
    await program.print(
      job,
      Array.from({ length: 50 }, (_each, n) => `${i * 50 + n} ${'y'.repeat(500)}`),
    );
  await program.finish(job, { state: 'succeeded', exitCode: 0 });
  const response = await fetch(program.url + path(job), {
    headers: { authorization: `Bearer ${program.tokens.readonly}` },
  });
  assert.ok(response.body !== null);
  let text = '';
  let reads = 0;
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    reads += 1;
    if (reads % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.deepEqual(
    seqsIn(text),
    Array.from({ length: 5_002 }, (_each, i) => i + 1),
  );
});

test('A stopping listener ends the streams, lets other requests finish, and takes no new connection', async (t) => {
  const program = await startProgram(t);
  const job = await program.queue();
  const socket = await follow(program, job, program.tokens.readonly);
  const ended = untilClosed(socket);
  const half = await open(program.port);
  const body = '{"inventory":"localhost","command":["true"]}';
  half.write(
    'POST /api/v1/commands/run HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ' +
      `${program.tokens.operator}\r\nContent-Length: ${body.length}\r\n\r\n{`,
  );
  await send(program, 'operator', { method: 'GET', path: '/api/v1/whoami' });
  const closing = program.face.close(10_000);
  // The chunk that says that nothing follows: an orderly end, not a cut.
  assert.equal(await ended, '0\r\n\r\n');
  await assert.rejects(open(program.port), /ECONNREFUSED/);
  half.write(body.slice(1));
  const answer = await untilClosed(half);
  assert.match(answer, /^HTTP\/1\.1 202 [\s\S]*\r\nConnection: close/i);
  await closing;
  await program.face.close(0);
});

test('A stopping listener cuts off what does not end in time', async (t) => {
  const program = await startProgram(t);
  const half = await open(program.port);
  half.write(
    'POST /api/v1/commands/run HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ' +
      `${program.tokens.operator}\r\nContent-Length: 10\r\n\r\n{`,
  );
  await send(program, 'operator', { method: 'GET', path: '/api/v1/whoami' });
  await program.face.close(50);
  assert.equal(await untilClosed(half), '');
});

test('F15: Single events fill the buffer of a client that never reads no further than a flood does', async (t) => {
  const program = await startProgram(t, { limits: { drainMs: 300, bufferBytes: 4_096 } });
  const job = await running(program);
  const socket = await open(program.port);
  socket.pause();
  socket.write(ask(job, program.tokens.readonly));
  await until('the stream is open', () => program.face.load().streams === 1);
  // The kernel takes some megabytes before the buffer in this process begins to fill.
  for (let i = 0; i < 4_000 && program.face.load().streams === 1; i += 1)
    await program.print(job, ['z'.repeat(10_000)]);
  await until('it is cut off', () => program.face.load().streams === 0);
  assert.equal(program.face.load().places, 0);
  socket.destroy();
});
