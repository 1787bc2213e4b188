/** How requests share the event loop: by the token that sent them, and before that by their peer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { Prober } from '../../../src/operations/checks/prober.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { loopbackProbes } from '../../support/network/probing.ts';
import { TURN_LIMITS } from '../../../src/faces/http/limits.ts';
import { Peers } from '../../../src/faces/http/peers.ts';
import { FairTurns, type TurnLimits } from '../../../src/lib/flow/fair-turns.ts';
import { HandClock } from '../../support/clock.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { open, request, split, untilClosed, untilHas } from '../../support/raw-http.ts';
import { ENGINES } from '../../store/engine-fixture.ts';

/** Requests of one client, and how many of them may be answered before one of another that was sent after them. */
const MANY = 60;
const FEW = 25;
const ROUNDS = 5;

/** Each look takes a millisecond, as if each part of a request did. */
class BusyClock extends HandClock {
  override monotonic(): number {
    this.monotonicMs += 1;
    return this.monotonicMs;
  }
}

function busyTurns(limits: Partial<TurnLimits> = {}): FairTurns {
  return new FairTurns(new BusyClock(0), { ...TURN_LIMITS, ...limits });
}

interface Client {
  readonly from: string;
  readonly token: string;
}

/** Connections that the listener has accepted: it takes one in each turn of the event loop. */
async function connections({ port }: Program, { from }: Client, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 1) {
    const socket = await open(port, from);
    socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    await untilHas(socket, '\r\n\r\n');
    sockets.push(socket);
  }
  return sockets;
}

/** Sends on each connection at once; `answered` is called with each answer. */
function ask(sockets: readonly Socket[], { token }: Client, path: string, answered?: () => void): Promise<string[]> {
  const text = request('GET', path, { Authorization: `Bearer ${token}` });
  const answers = sockets.map(async (socket) => {
    socket.once('data', () => answered?.());
    return untilClosed(socket);
  });
  for (const socket of sockets) socket.write(text);
  return Promise.all(answers);
}

/** How many of the requests of the first client were answered before that of the second. */
async function answeredBefore(program: Program, many: Client, other: Client, path: string): Promise<number> {
  const [sockets, one] = [await connections(program, many, MANY), await connections(program, other, 1)];
  let [answered, before] = [0, 0];
  const all = ask(sockets, many, path, () => (answered += 1));
  await ask(one, other, path, () => (before = answered));
  await all;
  return before;
}

async function busyProgram(t: TestContext, postgres: boolean, limits: Partial<TurnLimits> = {}): Promise<Program> {
  // Each address of this machine counts as one of another machine.
  return startProgram(t, { postgres, turns: busyTurns(limits), peers: new Peers([], () => false) });
}

for (const { name } of ENGINES) {
  test(`T87: a request does not wait for those of another token that came before it (${name})`, async (t) => {
    const program = await busyProgram(t, name === 'PostgreSQL');
    const [ana, bo] = [program.tokens.readonly, program.tokens.operator];
    const [many, other] = [
      { from: '127.0.0.1', token: ana },
      { from: '127.0.0.2', token: bo },
    ];
    // The first ones wait for connections to PostgreSQL that are made for them.
    await answeredBefore(program, many, other, '/api/v1/jobs?limit=0');
    const rounds: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) rounds.push(await answeredBefore(program, many, other, '/api/v1/jobs?limit=0'));
    // Without turns it is all of them each time; a busy machine may let one process of PostgreSQL wait for long.
    const before = Math.min(...rounds);
    assert.ok(before <= FEW, `${before} of ${MANY}`);
    assert.equal(program.logged.length, 0);
  });
}

test('T87: a request without a token does not wait for those of another peer that came before it', async (t) => {
  const program = await busyProgram(t, false);
  const eve = { from: '127.0.0.2', token: 'svc_no' };
  const before = await answeredBefore(program, eve, { from: '127.0.0.3', token: 'svc_no' }, '/api/v1/whoami');
  assert.ok(before <= FEW, `${before} of ${MANY}`);
});

for (const [name, who] of Object.entries({ token: 'operator', peer: null } as const))
  test(`T87: over the queue of its ${name} a request is unavailable with Retry-After, and one of another is answered`, async (t) => {
    const program = await busyProgram(t, false, { waitingEach: 2 });
    const many = { from: '127.0.0.2', token: who === null ? 'svc_no' : program.tokens[who] };
    const sockets = await connections(program, many, MANY);
    const [other] = await connections(program, { ...many, from: '127.0.0.3' }, 1);
    const all = ask(sockets, many, '/api/v1/whoami');
    assert.ok(other !== undefined);
    const [answer = ''] = await ask([other], { ...many, token: program.tokens.readonly }, '/api/v1/whoami');
    assert.equal(split(answer).status, 200);
    const answers = (await all).map(split);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0 && refused.length < MANY, `${refused.length} refused`);
    for (const { head, body } of refused) {
      assert.match(head, /\r\nRetry-After: 1\r\n/);
      assert.match(body, /"code":"unavailable"/);
    }
    assert.ok(answers.every(({ status }) => [503, who === null ? 401 : 200].includes(status)));
  });

test('T87: on this machine a connection with one request is answered beside those with many', async (t) => {
  const program = await startProgram(t, { turns: busyTurns({ waiting: 20 }) });
  const eve = { from: '127.0.0.1', token: 'svc_no' };
  const [other, ...sockets] = await connections(program, eve, 11);
  assert.ok(other !== undefined);
  const all = sockets.map(async (socket) => untilClosed(socket));
  const one = request('GET', '/api/v1/whoami', { Authorization: 'Bearer svc_no', Connection: 'keep-alive' });
  for (const socket of sockets) socket.write(one.repeat(6) + request('GET', '/api/v1/whoami'));
  const [answer = ''] = await ask([other], { ...eve, token: program.tokens.readonly }, '/api/v1/whoami');
  assert.equal(split(answer).status, 200);
  assert.match((await Promise.all(all)).join(''), /HTTP\/1\.1 503 /);
});

test('T87: streams and requests that wait have no place, so that others of their token are answered', async (t) => {
  const prober = new Prober(systemClock, () => Promise.resolve(loopbackProbes()));
  const program = await startProgram(t, { turns: busyTurns({ placesEach: 1 }), prober });
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const target = `it=http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const check = { name: 'silent', kind: 'http', interval: '1h', targets: [target] };
  await callLocally(program, 'check.add', check);
  const client = { from: '127.0.0.2', token: program.tokens.readonly };
  const [stream, probe, ...others] = await connections(program, client, 6);
  assert.ok(stream !== undefined && probe !== undefined);
  const [jobs = ''] = await ask(others.splice(0, 1), client, '/api/v1/jobs?limit=0');
  assert.equal(split(jobs).status, 200);
  const authorization = { Authorization: `Bearer ${client.token}` };
  stream.write(request('GET', '/api/v1/approvals/stream', authorization));
  const waits = once(silent, 'connection');
  probe.write(request('POST', '/api/v1/checks/silent/probe', { ...authorization, 'Content-Length': '0' }));
  const [asked] = (await waits) as [Socket];
  let hasEnded = false;
  probe.once('data', () => (hasEnded = true));
  const answers = await ask(others, client, '/api/v1/whoami');
  assert.deepEqual(
    answers.map((answer) => split(answer).status),
    others.map(() => 200),
  );
  assert.equal(hasEnded, false, 'it still waits');
  asked.destroy();
  stream.destroy();
});
