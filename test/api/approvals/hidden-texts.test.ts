/** Stored secrets are hidden wherever a text of somebody else is shown, also where other marks and cuts meet them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REDACTED } from '../../../src/domain/secrets/redaction.ts';
import { hideSecrets } from '../../../src/operations/secrets/hide-secrets.ts';
import type { Projected } from '../../../src/views/views.ts';
import { openHookFixture } from '../../support/fixtures/hooks.ts';
import { send } from '../../support/scenario.ts';

const RULE = `when: event.source == "generic" && event.labels.host == "nowhere"
approval: required
action:
  command: ["true"]
  inventory: localhost
`;
const SECRET = 'kx8-Qv2-pT7-mZ4-rL9';

describe('A stored secret', () => {
  for (const [what, secret, value, gone] of [
    ['in the password of a URL', 'p@ss/word!x', 'https://u:p@ss/word!x@h/', 'word'],
    ['in a parameter of a URL', 'abc&defghijkl', 'https://h/?token=abc&defghijkl', 'defg'],
    ['that is a whole address', 'postgres://app:pw@db.invalid/prod', 'postgres://app:pw@db.invalid/prod', 'db.invalid'],
    ['that is a number', '48151623', 48_151_623, '4815'],
  ] as const)
    test(`${what} is hidden`, async (t) => {
      const fixture = await openHookFixture(t);
      await fixture.call('secret.set', { secret: 'app/key', value: secret });
      const shown = JSON.stringify(await hideSecrets(fixture.program, { place: value }));
      assert.ok(shown.includes(REDACTED) && !shown.includes(gone), shown);
    });

  test('in an alert is hidden before the text is cut, and in the trace of a caller elsewhere', async (t) => {
    const fixture = await openHookFixture(t);
    await fixture.call('secret.set', { secret: 'app/key', value: SECRET });
    await fixture.call('rule.add', { name: 'clean', text: RULE.replace(' && event.labels.host == "nowhere"', '') });
    await fixture.call('rule.add', { name: 'a-other', text: RULE });
    const annotations = { description: `${'x'.repeat(490)} ${SECRET}` };
    const event = { name: 'Disk', status: 'firing', labels: { host: SECRET }, annotations };
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(await fixture.hook('generic'), {
      method: 'POST',
      headers,
      body: JSON.stringify(event),
    });
    assert.equal(status, 202);
    const [approval] = await fixture.call<Projected<'approval.list'>>('approval.list', {});
    const order = await fixture.call<Projected<'order'>>('approval.order', { id: approval?.id });
    assert.match(order.alert?.sender_text.description ?? '', /^x{490} \[redact/);
    const [{ id } = { id: '' }] = await fixture.events();
    const path = `/api/v1/events/${id}/trace`;
    const { text } = await send(fixture.program, 'readonly', { method: 'GET', path });
    assert.ok(text.includes(REDACTED) && !text.includes(SECRET), text);
    assert.ok(JSON.stringify(await fixture.call('event.trace', { id })).includes(SECRET), 'on the machine it is shown');
  });

  test('and the summary of a request is not that of the row of its job, which has no tag', async (t) => {
    const fixture = await openHookFixture(t);
    const text = `${RULE.replace(' && event.labels.host == "nowhere"', '')}summary: frees space\n`;
    await fixture.call('rule.add', { name: 'clean', text });
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Disk', status: 'firing', labels: {} });
    await fetch(await fixture.hook('generic'), { method: 'POST', headers, body });
    await fixture.program.store.write(({ db }) => db.updateTable('jobs').set({ summary: 'harmless' }).execute());
    const [approval] = await fixture.call<Projected<'approval.list'>>('approval.list', {});
    const order = await fixture.call<Projected<'order'>>('approval.order', { id: approval?.id });
    assert.equal(order.summary, 'frees space');
  });
});
