/** The stream of what waits for a decision: what it says and when, its places, and its ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { gated } from '../../support/fixtures/approvals.ts';
import { until } from '../../support/api-client.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { open, untilClosed, untilHas } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';
import { rewrite } from '../../support/store/rewrite.ts';

const PATH = '/api/v1/approvals/stream';

/** Pauses are so much shorter than they are. */
function hasty(times: number): Clock {
  return { ...systemClock, after: (ms, fire) => systemClock.after(ms / times, fire) };
}

/** The system's clock, but pauses of this length last until the test ends them. */
function held(heldMs: number): { clock: Clock; waiting: () => number; end: () => void } {
  const waiting = new Set<() => void>();
  const hold = (fire: () => void): (() => void) => {
    waiting.add(fire);
    return () => waiting.delete(fire);
  };
  return {
    clock: { ...systemClock, after: (ms, fire) => (ms === heldMs ? hold(fire) : systemClock.after(ms, fire)) },
    waiting: () => waiting.size,
    end() {
      const ended = [...waiting];
      waiting.clear();
      for (const fire of ended) fire();
    },
  };
}

function ask(token: string, path = PATH): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

/** A stream that has sent its first snapshot. */
async function follow(program: Program, token: string): Promise<Socket> {
  const socket = await open(program.port);
  socket.write(ask(token));
  await untilHas(socket, 'event: approvals');
  return socket;
}

/** The data of each event in the text of a stream. */
function dataIn(text: string): string[] {
  return [...text.matchAll(/^event: approvals\ndata: (.*)$/gm)].map((match) => match[1] ?? '');
}

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`The stream begins with the pending approvals, also with none, and sends each change (${on})`, async (t) => {
    const program = await startProgram(t, { postgres, clock: hasty(100) });
    const { readonly: token } = program.tokens;
    const socket = await open(program.port);
    const whole = untilClosed(socket);
    const first = untilHas(socket, 'data: []\n\n');
    socket.write(ask(token));
    await first;
    const lists: string[] = ['[]'];
    const list = async (): Promise<string> => {
      const { text } = await send(program, 'readonly', { method: 'GET', path: '/api/v1/approvals' });
      return text.slice(text.indexOf('"data":') + 7, -2);
    };
    const answer = untilHas(socket, '"state":"pending"');
    const { apr } = await gated(program);
    await answer;
    lists.push(await list());
    // Changes that the list does not show: another job, and what the approval view leaves out.
    await program.queue();
    await rewrite(program.store, 'approvals', { owners: '["ci","other"]' });
    const quiet = untilHas(socket, ': still here');
    await quiet;
    const gone = untilHas(socket, 'data: []\n\n');
    await send(program, 'approve', {
      method: 'POST',
      path: `/api/v1/approvals/${apr}/decision`,
      body: { decision: 'approve' },
    });
    await gone;
    lists.push('[]');
    socket.end();
    await until('the stream is closed', () => program.face.load().streams === 0);
    assert.deepEqual(dataIn((await whole).replaceAll(/\r\n[0-9a-f]+\r\n/g, '')), lists);
  });
}

test('T54: One token may open all eight streams; the ninth is refused for every token', async (t) => {
  const program = await startProgram(t);
  const sockets: Socket[] = [];
  for (let i = 0; i < 8; i += 1) sockets.push(await follow(program, program.tokens.readonly));
  assert.equal(program.face.load().places, 8);
  for (const identity of ['readonly', 'operator', 'approve'] as const) {
    const { status, headers, text } = await send(program, identity, { method: 'GET', path: PATH });
    assert.deepEqual([status, headers.get('retry-after')], [503, '30']);
    assert.match(text, /"kind":"error","error":\{"code":"streams_over_cap"/);
  }
  sockets[0]?.destroy();
  await until('a place is free', () => program.face.load().places === 7);
  sockets.push(await follow(program, program.tokens.approve));
  for (const socket of sockets) socket.destroy();
  await until('all places are free', () => program.face.load().places === 0);
});

test('T54: The ninth is refused whatever the age of the eight, and by whichever identity', async (t) => {
  let laterMs = 0;
  const program = await startProgram(t, {
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + laterMs },
  });
  const sockets: Socket[] = [];
  for (let i = 0; i < 8; i += 1) sockets.push(await follow(program, program.tokens.readonly));
  for (const ageMs of [30_000, 14 * 60_000]) {
    laterMs = ageMs;
    assert.equal((await send(program, 'approve', { method: 'GET', path: PATH })).status, 503, `${ageMs}`);
  }
  assert.deepEqual([program.face.load().places, sockets.some(({ destroyed }) => destroyed)], [8, false]);
  for (const socket of sockets) socket.destroy();
  await until('all places are free', () => program.face.load().places === 0);
});

test('T54: The places of approval streams and of job streams are counted apart', async (t) => {
  const program = await startProgram(t);
  const sockets: Socket[] = [];
  for (let i = 0; i < 8; i += 1) sockets.push(await follow(program, program.tokens.readonly));
  const tail = await open(program.port);
  tail.write(
    `GET /api/v1/jobs/${await program.queue()}/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ` +
      `${program.tokens.readonly}\r\n\r\n`,
  );
  await untilHas(tail, 'event: state');
  for (const socket of [...sockets, tail]) socket.destroy();
  await until('all places are free', () => program.face.load().places === 0);
});

test('T54: 200 streams that are opened and left, in every way, leave no place taken', async (t) => {
  const program = await startProgram(t);
  const ways: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.end(),
    (socket) => socket.resetAndDestroy(),
  ];
  for (let i = 0; i < 200; i += 4) {
    await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        const socket = await open(program.port);
        socket.write(ask(program.tokens.readonly));
        if (lane !== 3)
          await Promise.race([untilHas(socket, '\r\n\r\n').catch(() => undefined), once(socket, 'close')]);
        ways[(i + lane) % 3]?.(socket);
      }),
    );
    await until('the places are free again', () => program.face.load().places === 0);
  }
  assert.deepEqual([program.face.load().streams, program.face.load().places], [0, 0]);
});

for (const kind of ['approvals', 'a job'])
  test(`T54: A stream of ${kind} ends in good order after 15 minutes, and its place is free`, async (t) => {
    const lifetime = held(15 * 60_000);
    const program = await startProgram(t, { clock: lifetime.clock });
    const path = kind === 'approvals' ? PATH : `/api/v1/jobs/${await program.queue()}/stream`;
    const socket = await open(program.port);
    const whole = untilClosed(socket);
    socket.write(ask(program.tokens.readonly, path));
    await until('it is open', () => program.face.load().places === 1 && lifetime.waiting() === 1);
    lifetime.end();
    await until('it has ended', () => program.face.load().places === 0);
    socket.end();
    const text = await whole;
    // The chunk that says that nothing follows: an orderly end, not a cut; and no event that says that the job ended.
    assert.match(text, /\r\n0\r\n\r\n$/);
    assert.doesNotMatch(text, /event: end/);
  });

test('T07: The stream of a revoked token ends within 2.5 s', async (t) => {
  const looks = held(2_000);
  const program = await startProgram(t, { clock: looks.clock });
  const token = await program.token('readonly');
  const socket = await follow(program, token);
  const ended = untilClosed(socket);
  await program.revoke(token);
  // Once: the first look after the revocation, 2 s later at most, must be the end.
  looks.end();
  await until('it has ended', () => program.face.load().streams === 0);
  socket.end();
  await ended;
});
