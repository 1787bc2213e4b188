/** A new build replaces a running daemon in its process, as an operator installs and restarts it. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Api, type ApiAnswer, until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { startLoad } from '../../support/restart/steady-load.ts';
import { copyProgram } from '../../support/restart/program-copy.ts';

interface Restart {
  readonly state: string;
  readonly cordoned: boolean;
  readonly in_flight: number;
  readonly requested_at: string;
  readonly reason: string | null;
}

const PER_SECOND = 100;
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

function ended(api: Api, state: string): Promise<Restart> {
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
    const streamed = fetch(`${api.baseUrl}/approvals/stream`, {
      headers: { authorization: `Bearer ${fixture.token}` },
    });
    const running = await sleep(api, 3);
    assert.equal((await ask(api)).data.state, 'requested');
    const queued = api.post<{ job_id: string }>('/commands/run', { inventory: 'localhost', command: ['/bin/true'] });
    await ended(api, 'idle');
    assert.equal(await versionOf(api), '0.1.0-next');
    assert.notEqual(before, '0.1.0-next');
    const { sent, failures } = await load.stop();
    assert.deepEqual([failures, sent > PER_SECOND], [[], true]);
    process.kill(daemon.pid, 0);
    assert.equal((await api.job(running)).state, 'succeeded');
    assert.equal((await api.waitFor((await queued).data.job_id)).state, 'succeeded');
    // A stream ends cleanly, so that its client resumes.
    assert.match(await (await streamed).text(), /^(?::|event:|id:|data:|retry:|\n)/);
    // The sockets are not inherited by what the new program starts, and the next restart keeps them again.
    program.install('0.1.0-last');
    assert.equal((await ask(api)).status, 200);
    await until('the last version runs', async () => (await versionOf(api)) === '0.1.0-last', RESTART_LIMIT_MS);
    await ended(api, 'idle');
    assert.equal(await daemon.stop(), 0);
  });

  test('a program that does not work, files of others, the bound of the drain, and force', async (t) => {
    const fixture = await openFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ program: program.main, args: ['--drain-timeout', '1s'] });
    const api = daemon.api(fixture.token);
    await ask(api);
    program.damage();
    chmodSync(program.main, 0o666);
    const refused = await post(api);
    assert.equal(refused.status, 409);
    assert.match(refused.error?.message ?? '', /main\.js can be written by its group or by everyone/);
    chmodSync(program.main, 0o644);
    assert.equal((await post(api)).status, 200);
    assert.match((await ended(api, 'aborted')).reason ?? '', /was not started: svc version: SyntaxError/);

    program.install('0.1.0-next');
    const job = await sleep(api, 600);
    assert.equal((await post(api)).status, 200);
    const late = await until(
      'the drain is over',
      async () => {
        const now = await status(api);
        return /after the \S+ min/.test(now.reason ?? '') ? now : undefined;
      },
      RESTART_LIMIT_MS,
    );
    assert.deepEqual([late.state, late.cordoned, late.in_flight], ['aborted', false, 1]);
    assert.equal((await api.job(job)).state, 'running');

    assert.equal((await post(api, '?force=true')).status, 200);
    await ended(api, 'idle');
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
