/** `POST /checks/{name}/probe`, against listeners on loopback. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Prober } from '../../../src/operations/checks/prober.ts';
import type { ProbeDeps } from '../../../src/probes/deps.ts';
import type { Projected } from '../../../src/views/views.ts';
import { insertNetgroup } from '../../../src/store/netgroups/netgroups.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { HandClock } from '../../support/clock.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { listen, listenHttp } from '../../support/network/listener.ts';
import { loopbackProbes } from '../../support/network/probing.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { type Received, send } from '../../support/scenario.ts';

type Ending = Parameters<typeof startProgram>[0];

/** A program whose probes may reach loopback, with a check of these targets. */
async function programWith(t: Ending, kind: string, targets: readonly string[], deps: ProbeDeps = loopbackProbes()) {
  const prober = new Prober(systemClock, () => Promise.resolve(deps));
  const program = await startProgram(t, { prober });
  await callLocally(program, 'check.add', { name: 'web', kind, interval: '30s', targets });
  return program;
}

const probe = (program: Program, query = '', name = 'web', as: 'readonly' | 'operator' = 'readonly') =>
  send(program, as, { method: 'POST', path: `/api/v1/checks/${name}/probe${query}` });

function resultsOf({ status, json, text }: Received): Projected<'check.probe'>['targets'] {
  assert.equal(status, 200, text);
  return (json as { data: Projected<'check.probe'> }).data.targets;
}

/** All that a probe could have written. */
async function stored({ store }: Program): Promise<unknown> {
  const tables = ['checks', 'check_targets', 'events', 'ledger'] as const;
  return Promise.all(tables.map((table) => store.db.selectFrom(table).selectAll().execute()));
}

/** A target of an answer, as a pattern. */
const resultForm = (name: string, up: boolean, detail: string): string =>
  `\\{"target":"${name}","up":${up},"duration_ms":\\d+,"netgroup":"home","detail":"${detail}"\\}`;

const codeOf = ({ status, json }: Received) => [status, (json as { error: { message: string } }).error.message];

describe('A probe of a check', () => {
  test('answers each target in its order, for a readonly token, and writes nothing', async (t) => {
    const up = await listen(t);
    const down = await listen(t);
    await down.close();
    const program = await programWith(t, 'tcp', [`b=127.0.0.1:${up.port}`, `a=127.0.0.1:${down.port}`]);
    await program.store.write((tx) => insertNetgroup(tx, 'home', { prefixes: ['127.0.0.0/8'], excludes: [] }));
    const before = await stored(program);
    const answer = await probe(program);
    const targets = `${resultForm('b', true, 'ok')},${resultForm('a', false, 'refused')}`;
    assert.match(
      answer.text,
      new RegExp(
        `^\\{"schema_version":1,"kind":"check\\.probe","data":\\{"check":"web","targets":\\[${targets}\\]\\}\\}\\n$`,
      ),
    );
    assert.deepEqual(await stored(program), before);
    assert.deepEqual(
      resultsOf(await probe(program, '?target=a')).map(({ target }) => target),
      ['a'],
    );
  });

  test('sends the credentials of a URL, and answers nothing of the URL or of the target', async (t) => {
    const seen: (string | undefined)[] = [];
    const { port } = await listenHttp(t, (request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(500, { 'x-note': 'canary' }).end('canary');
    });
    const program = await programWith(t, 'http', [`a=http://u:geheim@127.0.0.1:${port}/?token=geheim`]);
    const answer = await probe(program);
    assert.deepEqual(
      resultsOf(answer).map((result) => ({ ...result, duration_ms: 0 })),
      [{ target: 'a', up: false, duration_ms: 0, netgroup: null, detail: 'status_unexpected' }],
    );
    assert.deepEqual(seen, [`Basic ${Buffer.from('u:geheim').toString('base64')}`]);
    assert.doesNotMatch(answer.text, /geheim|canary|127\.0/);
  });

  test('T40: reads a forbidden address as down, and opens no connection', async (t) => {
    const listener = await listen(t);
    const program = await startProgram(t);
    await callLocally(program, 'check.add', {
      name: 'web',
      kind: 'tcp',
      interval: '30s',
      targets: [`a=127.0.0.1:${listener.port}`, `b=[::ffff:127.0.0.1]:${listener.port}`, `c=0.0.0.0:${listener.port}`],
    });
    const results = resultsOf(await probe(program));
    assert.deepEqual(
      results.map(({ up, detail }) => [up, detail]),
      Array.from({ length: 3 }, () => [false, 'forbidden_address']),
    );
    assert.equal(listener.connections, 0);
  });

  test('of an unknown check is 404, and of an unknown target 400', async (t) => {
    const program = await programWith(t, 'tcp', ['a=127.0.0.1:1']);
    assert.deepEqual(codeOf(await probe(program, '', 'none')), [404, 'There is no check none.']);
    assert.deepEqual(codeOf(await probe(program, '?target=x')), [400, 'target: check web has no target x.']);
    assert.deepEqual(codeOf(await probe(program, '?port=1')), [400, '"port": no such query parameter here.']);
  });

  test('T39: 200 callers at once share one connection to each target', async (t) => {
    const accepted = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let requests = 0;
    const { port } = await listenHttp(t, (_request, response) => {
      requests += 1;
      accepted.resolve();
      void answer.promise.then(() => response.end());
    });
    const program = await programWith(t, 'http', [`a=http://127.0.0.1:${port}/`]);
    let asked = 0;
    const { prober } = program.services;
    const probeAll = prober.probeAll.bind(prober);
    // The target answers once every caller has joined.
    prober.probeAll = (holder, orders, signal) => {
      const result = probeAll(holder, orders, signal);
      asked += 1;
      if (asked === 200) void accepted.promise.then(answer.resolve);
      return result;
    };
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => probe(program, '', 'web', at % 2 === 0 ? 'readonly' : 'operator')),
    );
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(requests, 1);
  });

  test('ends with the last caller that waits for it', async (t) => {
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const { port } = await listen(t, (socket) => {
      socket.resume().once('close', closed.resolve);
      accepted.resolve();
    });
    const program = await programWith(t, 'http', [`a=http://127.0.0.1:${port}/`]);
    const gone = new AbortController();
    const asked = fetch(`${program.url}/api/v1/checks/web/probe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${program.tokens.readonly}` },
      signal: gone.signal,
    });
    await accepted.promise;
    gone.abort();
    await assert.rejects(asked);
    await closed.promise;
  });

  test('has a rate for each token: a loop is refused until time has passed', async (t) => {
    const clock = new HandClock();
    const deps = loopbackProbes();
    const program = await startProgram(t, { prober: new Prober(clock, () => Promise.resolve(deps)) });
    const targets = Array.from({ length: 1_001 }, (_, at) => `t${at}=127.0.0.1:1`);
    await callLocally(program, 'check.add', { name: 'web', kind: 'tcp', interval: '30s', targets });
    assert.equal(resultsOf(await probe(program)).length, 1_001);
    const refused = await probe(program, '?target=t1');
    assert.equal(refused.status, 503);
    assert.match(refused.text, /"code":"unavailable","message":"This token has started many probes\. Nothing was/);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal((await probe(program, '?target=t1', 'web', 'operator')).status, 200);
    clock.advance(1_000);
    assert.equal((await probe(program, '?target=t1')).status, 200);
  });
});
