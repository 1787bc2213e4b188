/** A new build replaces a running daemon in its process, as an operator installs and restarts it. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Api, type ApiAnswer, type EventJson, until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { startLoad } from '../../support/restart/steady-load.ts';
import { readResumed } from '../../support/restart/resumed-stream.ts';
import { copyProgram } from '../../support/restart/program-copy.ts';

interface Restart {
  readonly state: string;
  readonly cordoned: boolean;
  readonly in_flight: number;
  readonly requested_at: string;
  readonly reason: string | null;
}

const PER_SECOND = 100;
const LINES = 500;
/** A trial starts the program twice, and reads all files three times. */
const RESTART_LIMIT_MS = 120_000;

const post = (api: Api, query = ''): Promise<ApiAnswer<Restart>> =>
  api.post<Restart>(`/maintenance/restart${query}`, {});

const status = async (api: Api): Promise<Restart> => (await api.get<Restart>('/maintenance/restart')).data;

/** Asks until the daemon knows what it runs. */
function ask(api: Api, query = ''): Promise<ApiAnswer<Restart>> {
  return until('the daemon knows its program', async () => {
    const answer = await post(api, query);
    return answer.status === 503 ? undefined : answer;
  });
}

function restartIs(api: Api, state: string): Promise<Restart> {
  return until(
    `the restart is ${state}`,
    async () => {
      const now = await status(api);
      return now.state === state ? now : undefined;
    },
    RESTART_LIMIT_MS,
  );
}

const versionOf = async (api: Api): Promise<string> =>
  (await api.get<{ server: { version: string } }>('/whoami')).data.server.version;

const sleep = async (api: Api, seconds: number): Promise<string> => {
  const body = { inventory: 'localhost', command: ['/bin/sleep', String(seconds)] };
  const { data } = await api.post<{ job_id: string }>('/commands/run', body);
  await until('the job runs', async () => (await api.job(data.job_id)).state === 'running');
  return data.job_id;
};

describe('a restart in place', () => {
  test('under load: no failed request, the same process, the new version, and no lost job', async (t) => {
    const fixture = await openFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ program: program.main });
    const api = daemon.api(fixture.token);
    const before = await versionOf(api);
    assert.deepEqual([(await ask(api)).status, (await ask(api)).error?.code], [409, 'conflict']);
    program.install('0.1.0-next');
    const load = startLoad(`${api.baseUrl}/jobs?limit=1`, fixture.token, PER_SECOND);
    t.after(() => load.stop());
    const streamed = fetch(`${api.baseUrl}/approvals/stream`, {
      headers: { authorization: `Bearer ${fixture.token}` },
    });
    const go = join(fixture.dir, 'go');
    const running = await fixture.queue({ command: ['/bin/sh', '-c', `until test -e ${go}; do sleep 0.1; done`] });
    await fixture.waitFor(running, ['running']);
    assert.equal((await ask(api)).data.state, 'requested');
    await restartIs(api, 'draining');
    const queued = await api.run(['/bin/sh', '-c', `seq ${LINES}; sleep 0.5; seq ${LINES}`]);
    const opened = Promise.withResolvers<void>();
    const resumed = readResumed(api, queued, () => opened.resolve());
    await opened.promise;
    assert.deepEqual([(await status(api)).in_flight, (await api.job(queued)).state], [1, 'queued']);
    writeFileSync(go, '');
    await restartIs(api, 'idle');
    assert.equal(await versionOf(api), '0.1.0-next');
    assert.notEqual(before, '0.1.0-next');
    const { sent, failures } = await load.stop();
    assert.deepEqual([failures, sent > PER_SECOND], [[], true]);
    process.kill(daemon.pid, 0);
    assert.equal((await api.job(running)).state, 'succeeded');
    assert.equal((await api.waitFor(queued)).state, 'succeeded');
    // A stream ends cleanly, so that its client resumes, and no line is lost or comes twice.
    const { numbers, connections } = await resumed;
    assert.ok(connections > 1, 'the restart ended the stream');
    const { data: all } = await api.get<EventJson[]>(`/jobs/${queued}/events`);
    assert.deepEqual([numbers.length > 2 * LINES, numbers], [true, all.map(({ seq }) => seq)]);
    assert.match(await (await streamed).text(), /^(?::|event:|id:|data:|retry:|\n)/);
    // F28: the job that requests a restart is one that the restart waits for. The sockets are not inherited by what the
    // new program starts, and the next restart keeps them again.
    program.install('0.1.0-last');
    const data = `--data-dir ${daemon.ready.data_dir} --seal-key-file ${join(fixture.dir, 'seal.key')}`;
    const verb = `${process.execPath} ${program.main} maintenance restart ${data}`;
    const script = `${verb} --wait; echo "exit $?"; ${verb} --output json && sleep 2`;
    const asking = await fixture.queue({ command: ['/bin/sh', '-c', script] });
    assert.equal((await fixture.waitFor(asking, ['succeeded', 'failed'], RESTART_LIMIT_MS)).state, 'succeeded');
    const said = (await fixture.events(asking)).map((event) => ('text' in event ? event.text : '')).join('\n');
    assert.match(said, /a job cannot wait for a restart that waits for the job[^]*exit 5/);
    assert.match(said, /"state":"requested","cordoned":false,"in_flight":1/);
    await until('the last version runs', async () => (await versionOf(api)) === '0.1.0-last', RESTART_LIMIT_MS);
    await restartIs(api, 'idle');
    assert.equal(await daemon.stop(), 0);
  });

  test('a program that does not work, files of others, the bound of the drain, and force', async (t) => {
    const fixture = await openFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ program: program.main, args: ['--drain-timeout', '1s'] });
    const api = daemon.api(fixture.token);
    await ask(api);
    program.damage('main.js');
    chmodSync(program.main, 0o666);
    const refused = await post(api);
    assert.equal(refused.status, 409);
    assert.match(refused.error?.message ?? '', /main\.js can be written by its group or by everyone/);
    chmodSync(program.main, 0o644);
    assert.equal((await post(api)).status, 200);
    assert.match((await restartIs(api, 'aborted')).reason ?? '', /was not started: svc version: SyntaxError/);
    program.install('0.1.0-half');
    program.damage('server.js');
    assert.equal((await post(api)).status, 200);
    assert.match((await restartIs(api, 'aborted')).reason ?? '', /was not started: svc serve: SyntaxError/);

    program.install('0.1.0-next');
    const job = await sleep(api, 600);
    assert.equal((await post(api)).status, 200);
    const late = await until(
      'the drain is over',
      async () => {
        const now = await status(api);
        return /after the 1s of --drain-timeout/.test(now.reason ?? '') ? now : undefined;
      },
      RESTART_LIMIT_MS,
    );
    assert.deepEqual([late.state, late.cordoned, late.in_flight], ['aborted', false, 1]);
    assert.equal((await api.job(job)).state, 'running');

    assert.equal((await post(api, '?force=true')).status, 200);
    await restartIs(api, 'idle');
    assert.deepEqual([await versionOf(api), (await api.job(job)).state], ['0.1.0-next', 'cancelled']);
    assert.equal(await daemon.stop(), 0);
  });

  test('two daemons on one PostgreSQL: one restarts, asked through the other, and keeps its name', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const program = copyProgram(join(fixture.dir, 'program'));
    const start = (name: string) => fixture.start({ program: program.main, args: ['--node-name', name] });
    const [one, two] = await Promise.all([start('one'), start('two')]);
    const api = two.api(fixture.token);
    assert.equal((await ask(api, '?node=one')).status, 409);
    program.install('0.1.0-next');
    assert.equal((await ask(api, '?node=one')).status, 200);
    const nodes = async (): Promise<string[]> =>
      (await api.get<{ name: string; version: string; cordoned: boolean }[]>('/nodes')).data.map(
        ({ name, version, cordoned }) => `${name} ${version.replace(/^.*-/, '')}${cordoned ? ' cordoned' : ''}`,
      );
    await until('one is the next', async () => (await nodes()).includes('one next'), RESTART_LIMIT_MS);
    assert.equal((await nodes()).length, 2);
    const { data } = await api.get<Restart>('/maintenance/restart?node=one');
    assert.deepEqual([data.state, data.cordoned, data.reason], ['idle', false, null]);
    process.kill(one.pid, 0);
    assert.equal(await one.stop(), 0);
  });
});
