import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER } from '../../../test/support/decisions/pages.ts';
import { orderEntries, orderLine, whatTheSenderSays } from './order-words.ts';

type Words = Parameters<typeof orderEntries>[0];

/** What an order says under one name. */
function said(order: Words, name: string): string | null | undefined {
  return orderEntries(order).find(([each]) => each === name)?.[1];
}

const PLAYBOOK = {
  ...ORDER,
  command: null,
  playbook: 'clean.yml',
  source: 'ops',
  source_commit: '3f2a1c9d'.repeat(5),
  tags: ['disk'],
  skip_tags: ['slow'],
  extra_vars: { level: 'all', keep: 3 },
};

test('An order is one line: what, from where, on which hosts, and how', () => {
  assert.equal(orderLine(ORDER), "Run find /srv/cache -name 'a b' -delete on web1, web2 (2 of prod, limit web).");
  assert.equal(
    orderLine(PLAYBOOK),
    'Run clean.yml of ops at 3f2a1c9 on web1, web2 (2 of prod, limit web), ' +
      'with tags disk, without tags slow, level=all, keep=3.',
  );
  assert.equal(orderLine({ ...ORDER, command: null }), 'Runs on web1, web2 (2 of prod, limit web).');
  assert.equal(orderLine({ ...ORDER, command: null, inventory: null, hosts: null }), null);
  assert.equal(
    said({ ...PLAYBOOK, source: null, source_commit: null, path: '/srv/play' }, 'Runs'),
    'clean.yml of /srv/play',
  );
});

test('Hosts are named, the others counted, and none says so', () => {
  const names = Array.from({ length: 9 }, (_, n) => `web${n}`);
  const whole = { ...ORDER, hosts: { count: 1, names: ['WEB1.example.net'] } };
  assert.equal(said(whole, 'Alert'), 'DiskFull on web1, warning, firing');
  const here = { ...ORDER, inventory: 'localhost', hosts: { count: 1, names: ['localhost'] } };
  assert.equal(said(here, 'Alert'), 'DiskFull on web1, warning, firing');
  const many = { ...ORDER, limit: null, hosts: { count: 1_000, names } };
  assert.equal(said(many, 'On'), 'web0, web1, web2, web3, web4 and 995 more (1000 of prod)');
  assert.equal(said({ ...ORDER, hosts: { count: 0, names: [] } }, 'On'), 'no host of prod now, limit web');
  const local = { ...ORDER, inventory: 'localhost', limit: null, hosts: { count: 1, names: ['localhost'] } };
  assert.equal(said(local, 'On'), 'localhost');
});

test('What it touches, the alert and the step are left out where there is nothing to say', () => {
  assert.equal(said(ORDER, 'May touch'), 'writes /srv/cache; gets the secrets app/db');
  const outside = { ...ORDER, privileged: true, writable: null, secrets: null, egress_ports: [443] };
  assert.equal(said(outside, 'May touch'), 'all of this machine: it runs outside the sandbox; connects to port 443');
  const bare = { ...outside, privileged: false, egress_ports: [], alert: null };
  const left = orderEntries({ ...bare, summary: 'Clean the cache', schedule: 'nightly' }).filter(
    ([, text]) => text !== null,
  );
  assert.deepEqual(left.slice(2), [
    ['Its author says', 'Clean the cache'],
    ['Schedule', 'nightly'],
    ['Time limit', '1h'],
  ]);
  assert.equal(whatTheSenderSays(bare), null);
  assert.equal(said(ORDER, 'Alert'), 'DiskFull on web1, warning, firing');
  const elsewhere = { ...ORDER, hosts: { count: 1, names: ['db1'] } };
  assert.equal(said(elsewhere, 'Alert'), 'DiskFull on web1, warning, firing; web1 is not one of the hosts above');
  const many = { ...ORDER, hosts: { count: 300, names: ['db1'] } };
  assert.equal(said(many, 'Alert'), 'DiskFull on web1, warning, firing');
  const failed = [{ name: 'drain', state: 'failed' }];
  const step = { ...ORDER, step: { run_id: 'wfr_1', workflow: 'patch', name: 'reboot', failed_before: failed } };
  assert.deepEqual(
    [said(step, 'Step'), said(step, 'Failed before')],
    ['reboot of wfr_1 (workflow patch)', 'drain (failed)'],
  );
});

test('Long words are cut, and say so', () => {
  const long = { ...ORDER, command: ['x'.repeat(1_000)] };
  assert.equal(said(long, 'Runs')?.length, 301);
  assert.match(orderLine(long) ?? '', /…\.$/);
});
