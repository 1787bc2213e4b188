/** A command that an event asked for finds the event in its run directory, and the labels in its environment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const SCRIPT = 'stat -c %a "$SVC_EVENT_FILE"; echo "${SVC_LABEL_MOUNTPOINT:?}"; cat "$SVC_EVENT_FILE"';
const RULE = `when: event.source == "generic"
action:
  command: ["/bin/sh", "-c", ${JSON.stringify(SCRIPT.replaceAll('${', '$$${'))}]
  inventory: localhost
`;

interface Result {
  readonly hosts: readonly { readonly stdout: string }[];
}

test(
  'A command of a rule reads its event, and another command has none',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    await fixture.call('rule.add', { name: 'look', text: RULE });
    const { url } = (await fixture.call('webhook.add', { name: 'in', source: 'generic' })) as { url: string };
    const daemon = await fixture.serve();
    const api = daemon.api(fixture.token);
    const path = new URL(url).pathname;
    const { status } = await fetch(new URL(path, daemon.ready.ingress_url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'DiskFull',
        status: 'firing',
        labels: { mountpoint: '/srv; $(id)' },
        annotations: { summary: 'the disk is full' },
      }),
    });
    assert.equal(status, 202);
    const { id, job_id: jobId } = await until('the event has its job', async () => {
      const rows = await fixture.store.db.selectFrom('events').select(['id', 'job_id']).execute();
      return rows.find((row) => row.job_id !== null);
    });
    await api.waitFor(jobId ?? '');
    const printed = async (job: string): Promise<string> =>
      (await api.get<Result>(`/jobs/${job}/result`)).data.hosts[0]?.stdout ?? '';
    const [mode, label, file] = (await printed(jobId ?? '')).split('\n');
    assert.deepEqual([mode, label], ['600', '/srv; $(id)']);
    const view = JSON.parse(file ?? '') as { id: string; labels: object; annotations: { summary: string } };
    assert.deepEqual([view.id, view.annotations.summary], [id, 'the disk is full']);

    const plain = await api.run(['/usr/bin/env']);
    await api.waitFor(plain);
    assert.doesNotMatch(await printed(plain), /SVC_(?:EVENT|LABEL)/);
  },
);
