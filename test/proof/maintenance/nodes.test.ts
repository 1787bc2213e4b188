/** Several daemons on one store, as those who reboot one of them see them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openFixture } from '../../support/fixtures/installation.ts';

interface Readiness {
  readonly cordoned: boolean;
  readonly in_flight: number;
  readonly safe_to_reboot: boolean;
  readonly running: readonly { readonly job_id: string; readonly node: string }[];
}

describe('nodes', () => {
  for (const postgres of [false, true])
    test(`each face lists a daemon with the same bytes, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, async (t) => {
      const fixture = await openFixture(t, { postgres });
      const daemon = await fixture.start({ args: ['--node-name', 'one'] });
      const api = daemon.api(fixture.token);
      const { data } = await api.get<{ last_seen_at: string | null }[]>('/nodes');
      assert.equal(data[0]?.last_seen_at === null, !postgres);
      // A renewal may come between two of the requests, but not between each.
      let same = 0;
      for (let n = 0; n < 20; n += 1) {
        const there = (await api.get('/nodes')).data;
        if (JSON.stringify(there) === JSON.stringify(await fixture.call('node.list', {}))) same += 1;
      }
      assert.ok(same > 0);
    });

  test('on the machine, a store that no daemon has used is not said to be safe to reboot', async (t) => {
    const fixture = await openFixture(t);
    for (const verb of ['readiness', 'cordon', 'uncordon'])
      await assert.rejects(fixture.call(`maintenance.${verb}`, {}), {
        code: 'unavailable',
        message: /No daemon has ever run on this data directory; name that of the service/,
      });
  });

  test('of two daemons one is cordoned while the other works on, and each tells what runs on it', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const [one, two] = await Promise.all(['one', 'two'].map((name) => fixture.start({ args: ['--node-name', name] })));
    const api = one!.api(fixture.token);
    const readiness = async (node: string): Promise<Readiness> =>
      (await api.get<Readiness>(`/maintenance/readiness?node=${node}`)).data;
    assert.equal((await api.post('/maintenance/cordon?node=one', {})).status, 200);
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await fixture.queue({ command: ['/bin/sleep', n === 0 ? '30' : '0'] }));
    for (const id of ids.slice(1)) assert.equal((await api.waitFor(id)).state, 'succeeded');
    for (const id of ids) assert.equal((await api.get<{ node: string }>(`/jobs/${id}`)).data.node, 'two');
    assert.deepEqual(await readiness('one'), { cordoned: true, in_flight: 0, safe_to_reboot: true, running: [] });
    const busy = await readiness('two');
    assert.deepEqual([busy.cordoned, busy.in_flight, busy.safe_to_reboot], [false, 1, false]);
    assert.deepEqual(
      busy.running.map(({ job_id: id, node }) => [id, node]),
      [[ids[0], 'two']],
    );
    interface Node {
      readonly name: string;
      readonly cordoned: boolean;
      readonly running_jobs: number;
      readonly state: string;
    }
    const nodes = async (): Promise<unknown[]> =>
      (await api.get<Node[]>('/nodes')).data.map((node) => [node.name, node.cordoned, node.running_jobs, node.state]);
    assert.deepEqual(await nodes(), [
      ['one', true, 0, 'cordoned'],
      ['two', false, 1, 'running'],
    ]);
    assert.equal((await api.get('/maintenance/readiness?node=three')).status, 404);
    assert.equal((await api.post('/maintenance/uncordon?node=one', {})).status, 200);
    assert.equal((await readiness('one')).cordoned, false);
    await api.post(`/jobs/${ids[0]!}/cancel`, {});
    assert.equal((await api.waitFor(ids[0]!)).state, 'cancelled');
    await two!.stop();
    assert.deepEqual(await nodes(), [
      ['one', false, 0, 'running'],
      ['two', false, 0, 'gone'],
    ]);
  });

  test('a command for one daemon waits for it, and the doctor tells when that one is away', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const start = (name: string) => fixture.start({ args: ['--node-name', name] });
    const [one, two] = await Promise.all(['one', 'two'].map(start));
    const api = one!.api(fixture.token);
    const command = { inventory: 'localhost', command: ['/bin/true'] };
    const run = async (node: string): Promise<string> =>
      (await api.post<{ job_id: string }>('/commands/run', { ...command, node })).data.job_id;
    const missing = await api.post('/commands/run', { ...command, node: 'three' });
    assert.equal(missing.status, 404);
    assert.match(JSON.stringify(missing), /node: there is no daemon \\"three\\"/);
    for (const node of ['one', 'two', 'one', 'two']) {
      const id = await run(node);
      assert.equal((await api.waitFor(id)).state, 'succeeded');
      assert.equal((await api.get<{ node: string }>(`/jobs/${id}`)).data.node, node);
    }
    await two!.stop();
    const waiting = await run('two');
    assert.equal((await api.waitFor(await run('one'))).state, 'succeeded');
    const { data: job } = await api.get<{ node: string; state: string }>(`/jobs/${waiting}`);
    assert.deepEqual([job.state, job.node], ['queued', 'two']);
    const { data: doctor } = await api.get<{ name: string; status: string; detail: string }[]>('/health');
    const daemons = doctor.find(({ name }) => name === 'daemons');
    assert.equal(daemons?.status, 'warn');
    assert.match(daemons.detail, /Jobs wait for a daemon that does not run: two \(1 job\)/);
    await start('two');
    const ended = await api.waitFor(waiting);
    assert.equal(ended.state, 'succeeded');
    const again = (await api.post<{ job_id: string }>(`/jobs/${waiting}/rerun`, {})).data.job_id;
    assert.equal((await api.waitFor(again)).state, 'succeeded');
    assert.equal((await api.get<{ node: string }>(`/jobs/${again}`)).data.node, 'two');
  });
});
