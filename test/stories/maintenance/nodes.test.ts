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
    const { data: nodes } = await api.get<{ name: string; cordoned: boolean; running_jobs: number }[]>('/nodes');
    assert.deepEqual(
      nodes.map((node) => [node.name, node.cordoned, node.running_jobs]),
      [
        ['one', true, 0],
        ['two', false, 1],
      ],
    );
    assert.equal((await api.get('/maintenance/readiness?node=three')).status, 404);
    assert.equal((await api.post('/maintenance/uncordon?node=one', {})).status, 200);
    assert.equal((await readiness('one')).cordoned, false);
    await api.post(`/jobs/${ids[0]!}/cancel`, {});
    assert.equal((await api.waitFor(ids[0]!)).state, 'cancelled');
    await two!.stop();
  });
});
