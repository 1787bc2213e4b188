/** What the exports are, and which of them a program made, is beside each of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AWX,
  CRONTAB,
  DEBIAN_CRONTAB,
  GATUS,
  SEMAPHORE,
  UPTIME_KUMA,
} from '../../../../../test/support/configuration/exports.ts';
import { refusal } from '../../../../../test/support/refusal.ts';
import { IMPORTERS } from './importers.ts';

async function imported(from: string, text: string) {
  const importer = IMPORTERS[from] ?? assert.fail();
  const { checks, schedules, notes } = await importer(text, Date.UTC(2026, 0, 1));
  return { checks: Object.fromEntries(checks), schedules: Object.fromEntries(schedules), notes };
}

describe('An export', () => {
  test('of Uptime Kuma becomes checks', async () => {
    const { checks, notes } = await imported('uptime-kuma', UPTIME_KUMA);
    assert.deepEqual(checks, {
      'my-site': { kind: 'http', interval: '60s', targets: ['target=https://example.org/'] },
      api: {
        kind: 'http',
        interval: '20s',
        targets: ['target=https://example.org/api'],
        expect: 201,
        expect_body: 'ok',
        enabled: false,
      },
      ssh: { kind: 'tcp', interval: '60s', targets: ['target=192.0.2.10:22'] },
      'ssh-2': { kind: 'tcp', interval: '60s', targets: ['target=192.0.2.11:22'] },
      gateway: { kind: 'ping', interval: '30s', targets: ['target=192.0.2.1'] },
      zone: { kind: 'dns', interval: '300s', targets: ['target=example.org'] },
    });
    assert.deepEqual(notes, [
      'my-site: its certificate is verified.',
      'my-site: every status of 2xx and 3xx is accepted instead of 200-299.',
      'api: the method is GET instead of POST.',
      'Left out: SSH (monitor 4): targets.0: target: expected NAME=IP:PORT, such as web1=10.0.0.5:443.',
      'Left out: Backup (monitor 8): no kind of check is like the type "push".',
      'Left out: No error (monitor 9): a check cannot expect that a text is missing.',
      'Left out: Down (monitor 10): a check cannot be upside down.',
      'Left out: 1 notifications; see svc serve --notify.',
      'file: field left out: version.',
      'my-site, api, ssh and 3 more: field left out: id.',
      'my-site: fields left out: authMethod, dns_resolve_server, dns_resolve_type, notificationIDList, ' +
        'retryInterval, timeout, weight.',
    ]);
  });

  test('of Gatus becomes checks', async () => {
    const { checks, notes } = await imported('gatus', GATUS);
    assert.deepEqual(checks, {
      'core-front': {
        kind: 'http',
        interval: '2m',
        targets: ['target=https://example.org/'],
        expect: 200,
        expect_body: 'hello',
      },
      cert: { kind: 'tls', interval: '1m', targets: ['target=example.org:443'], min_days: 2 },
      ssh: { kind: 'tcp', interval: '1m', targets: ['target=192.0.2.10:22'], enabled: false },
      ping: { kind: 'ping', interval: '1m', targets: ['target=192.0.2.1'] },
    });
    assert.deepEqual(notes, [
      'core-front: the condition [RESPONSE_TIME] < 500 is left out.',
      'Left out: zone (endpoint 5): it asks the name server "192.0.2.53"; a check asks only those of the system.',
      'Left out: shell (endpoint 6): no kind of check is like "ssh://192.0.2.10".',
      'Left out: alerting: it has no place in a configuration file.',
    ]);
  });

  test('of Semaphore becomes schedules, disabled, and says what they need', async () => {
    const { schedules, notes } = await imported('semaphore', SEMAPHORE);
    assert.deepEqual(schedules, {
      nightly: { cron: '0 3 * * *', playbook: 'patch.yml', source: 'play-books', inventory: 'prod', enabled: false },
    });
    assert.deepEqual(notes, [
      'Needed: svc source add play-books --git https://git.example.org/ops.git --ref main',
      'play-books: the credential in its URL is left out.',
      'Needed: svc inventory add prod --file FILE',
      'Left out: Patch (tonight): it runs once.',
      'nightly: its argument -v is left out.',
      'Left out: Plan: templates of terraform have no counterpart.',
      'Left out: By hand: it has no schedule; use svc playbook run or a rule.',
      'Left out: keys deploy: keep secrets with svc secret set.',
      'file: field left out: meta.',
      'inventory prod: fields left out: inventory, type.',
    ]);
  });

  test('of AWX becomes schedules where a cron line says the same times', async () => {
    const { schedules, notes } = await imported('awx', AWX);
    const common = {
      playbook: 'patch.yml',
      source: 'ops',
      inventory: 'prod',
      limit: 'web',
      tags: ['a', 'b'],
      enabled: false,
    };
    assert.deepEqual(schedules, {
      'patch-daily': { cron: '15 3 * * *', timezone: 'Europe/Berlin', ...common },
      'patch-weekly': { cron: '0 4 * * 1,5', ...common },
      'patch-monthly': { cron: '0 4 7 * *', ...common },
      'patch-often': { cron: '*/15 * * * *', ...common },
    });
    assert.deepEqual(
      notes.map((note) => note.slice(0, 50)),
      [
        'Needed: svc source add ops --git https://git.examp',
        'Needed: svc inventory add prod --file FILE',
        'Left out: Patch, once: no cron line says DTSTART:2',
        'Left out: Patch, other: no cron line says DTSTART:',
        'Left out: credentials Machine: it has no counterpa',
        'template Patch: fields left out: inventory.type, p',
      ],
    );
  });

  test('of a crontab becomes schedules of commands', async () => {
    const { schedules, notes } = await imported('crontab', CRONTAB);
    assert.deepEqual(schedules, {
      cd: {
        cron: '17 * * * *',
        command: ['sh', '-c', 'cd / && run-parts --report /etc/cron.hourly'],
        inventory: 'localhost',
        enabled: false,
      },
      tidy: {
        cron: '0 0 * * *',
        timezone: 'Europe/Berlin',
        command: ['/usr/local/bin/tidy', '--all', '100%'],
        inventory: 'localhost',
        enabled: false,
      },
    });
    assert.deepEqual(notes, [
      'cd: it ran as root (line 4); jobs run as the account of jobs.',
      'tidy: it ran as www-data (line 6); jobs run as the account of jobs.',
      'Left out: line 7: @reboot.',
      'Left out: line 8: its command has a standard input (%).',
      'Left out: line 9: it is no line of a crontab.',
      'Times are in UTC where a schedule has no timezone; write timezone: into it for another zone.',
      'Schedules are disabled; remove "enabled: false" once the crontab does not run them any more.',
    ]);
  });

  test('of the crontab of Debian has no user in its commands', async () => {
    const { schedules, notes } = await imported('crontab', DEBIAN_CRONTAB);
    assert.deepEqual(
      Object.values(schedules).map((each) => Object.values(each).slice(0, 2)),
      [
        ['17 * * * *', 'hourly', 'cd / && run-parts --report /etc/cron.hourly'],
        ['25 6 * * *', 'daily'],
        ['47 6 * * 7', 'weekly'],
        ['52 6 1 * *', 'monthly'],
      ].map(
        ([cron, each, command = `test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.${each}; }`]) => [
          cron,
          ['env', 'PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin', 'sh', '-c', command],
        ],
      ),
    );
    assert.equal(notes.filter((note) => note.includes('it ran as root')).length, 4);
  });

  test('is refused if it is of another program, or too large', async () => {
    for (const from of Object.keys(IMPORTERS)) {
      await assert.rejects(async () => imported(from, ''), refusal('invalid_argument'));
      await assert.rejects(async () => imported(from, '#'.repeat(4 * 1024 * 1024 + 1)), refusal('invalid_argument'));
      if (from !== 'crontab')
        await assert.rejects(async () => imported(from, '{"a": []}'), refusal('invalid_argument'));
    }
  });
});
