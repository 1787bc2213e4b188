/** What an export has and the file that it becomes has not: each is a line of the report, under the new name. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../../../../test/support/refusal.ts';
import { IMPORTERS } from './importers.ts';

async function imported(from: string, text: string) {
  const importer = IMPORTERS[from] ?? assert.fail();
  const { checks, schedules, notes } = await importer(text, Date.UTC(2026, 0, 1));
  return { checks: Object.fromEntries(checks), schedules: Object.fromEntries(schedules), notes };
}

async function notesOf(from: string, value: object): Promise<readonly string[]> {
  return (await imported(from, JSON.stringify(value))).notes;
}

async function refusalOf(from: string, text: string): Promise<string> {
  let message = '';
  await assert.rejects(
    async () => imported(from, text),
    (error: Error) => {
      message = error.message;
      return refusal('invalid_argument')(error);
    },
  );
  return message;
}

describe('The report of Uptime Kuma', () => {
  const http = { name: 'Web', type: 'http', url: 'https://example.org/' };

  test('names what the request and the answer lose, for two of the same name', async () => {
    const monitorList = [
      { ...http, headers: '{"a": "b"}', body: 'x', expiryNotification: true, maxretries: 5 },
      { ...http, method: 'HEAD', type: 'keyword', keyword: 'ok', accepted_statuscodes: ['200-299'], ignoreTls: 1 },
      { ...http, maxretries: 2, interval: 90_000 },
    ];
    assert.deepEqual(await notesOf('uptime-kuma', { monitorList }), [
      'web: it is down after 3 probes in a row instead of 5 retries.',
      'web: the end of its certificate is not watched; add a check of kind tls.',
      'web-2: the method is GET instead of HEAD.',
      'web-2: its certificate is verified.',
      'web-2: every status of 2xx and 3xx is accepted instead of 200-299.',
      'Left out: Web (monitor 3): interval: expected at least 1s and at most 1d.',
      'web: fields left out: body, headers.',
    ]);
  });

  test('names the server and the type of record of a check of DNS', async () => {
    const dns = { name: 'zone', type: 'dns', hostname: 'example.org' };
    const monitorList = [
      { ...dns, dns_resolve_server: '1.1.1.1', dns_resolve_type: 'MX' },
      { ...dns, dns_resolve_type: 'MX' },
      { ...dns, dns_resolve_type: 'A' },
    ];
    assert.deepEqual(await notesOf('uptime-kuma', { monitorList }), [
      'Left out: zone (monitor 1): it asks the name server "1.1.1.1"; a check asks only those of the system.',
      'Left out: zone (monitor 2): it asks for a DNS record of type "MX"; a check asks only for an address.',
    ]);
  });

  test('tells apart two monitors that are left out, and names one without fields', async () => {
    const port = { name: 'SSH', type: 'port', hostname: 'db.example.org', port: 22 };
    const why = 'targets.0: target: expected NAME=IP:PORT, such as web1=10.0.0.5:443.';
    assert.deepEqual(await notesOf('uptime-kuma', { monitorList: [port, null, port] }), [
      `Left out: SSH (monitor 1): ${why}`,
      'Left out: monitor 2: it has no fields.',
      `Left out: SSH (monitor 3): ${why}`,
    ]);
  });

  test('says that a text is too long to be expected', async () => {
    const monitorList = [{ ...http, type: 'keyword', keyword: 'x'.repeat(1_025) }];
    const why = 'expect_body: expected at most 1024 bytes.';
    assert.deepEqual(await notesOf('uptime-kuma', { monitorList }), [`Left out: Web (monitor 1): ${why}`]);
  });

  test('ends with the number of its lines that are left out', async () => {
    const monitorList = Array.from({ length: 1_002 }, () => null);
    const notes = await notesOf('uptime-kuma', { monitorList });
    assert.deepEqual([notes.length, notes.at(-1)], [1_001, '2 further lines of this report are left out.']);
  });
});

describe('The report of Gatus', () => {
  test('names what the request and the conditions lose', async () => {
    const endpoints = [
      {
        name: 'web',
        url: 'https://example.org/',
        method: 'POST',
        headers: { a: 'b' },
        body: 'x',
        client: { insecure: true, timeout: '5s' },
        conditions: ['[STATUS] < 300', '[BODY] == pat(*a*)', '[BODY] == pat(*b*)'],
      },
      { name: 'head', url: 'https://example.org/', method: 'HEAD', conditions: ['[STATUS] < 400'] },
      { name: 'one', url: 'https://example.org/', conditions: ['[STATUS] < 300', '[STATUS] == 200'] },
    ];
    const { checks, notes } = await imported('gatus', JSON.stringify({ endpoints }));
    assert.equal(checks['head']?.['method'], 'HEAD');
    assert.deepEqual(notes, [
      'web: its certificate is verified.',
      'web: the condition [BODY] == pat(*b*) is left out.',
      'web: every status of 2xx and 3xx is accepted instead of [STATUS] < 300.',
      'web: the method is GET instead of POST.',
      'web: fields left out: body, client.timeout, headers.',
    ]);
  });

  test('names the server and the type of record of a check of DNS', async () => {
    const dns = { 'query-name': 'example.org', 'query-type': 'MX' };
    const endpoints = [{ name: 'zone', url: '8.8.8.8', dns }, { name: 'mail', dns }, null];
    assert.deepEqual(await notesOf('gatus', { endpoints }), [
      'Left out: zone (endpoint 1): it asks the name server "8.8.8.8"; a check asks only those of the system.',
      'Left out: mail (endpoint 2): it asks for a DNS record of type "MX"; a check asks only for an address.',
      'Left out: endpoint 3: it has no fields.',
    ]);
  });
});

function notesOnUtc(notes: readonly string[]): number {
  return notes.filter((note) => note.includes('in UTC')).length;
}

describe('The report of a crontab', () => {
  test('names the line of times that no schedule takes', async () => {
    const text = 'CRON_TZ=Nowhere/Land\n0 1 * * * a\nCRON_TZ=\n61 * * * * bad\n0 2 * * * b\n0 0 31 2 * c\n';
    const { schedules, notes } = await imported('crontab', text);
    assert.deepEqual(Object.keys(schedules), ['b']);
    assert.deepEqual(notes.slice(0, 3), [
      'Left out: line 2: timezone: expected the name of a time zone, such as Europe/Berlin or UTC.',
      'Left out: line 4: cron: "61 * * * *": Invalid value for minute: 61.',
      'Left out: line 6: cron: no such day exists, so this would never run.',
    ]);
  });

  test('is a refusal where no line has times', async () => {
    const text = 'A text of six words or more.\nName=value\n';
    assert.match(await refusalOf('crontab', text), /^file: no line is one of a crontab; line 1: cron: "A text/);
    assert.equal(await refusalOf('crontab', 'MAILTO=ops\n'), 'file: no line is one of a crontab.');
    assert.deepEqual((await imported('crontab', '@reboot x\n')).notes, ['Left out: line 1: @reboot.']);
  });

  test('says that times are in UTC as long as one schedule has no zone', async () => {
    assert.equal(notesOnUtc((await imported('crontab', '0 1 * * * a\nCRON_TZ=Europe/Berlin\n0 1 * * * b\n')).notes), 1);
    assert.equal(notesOnUtc((await imported('crontab', 'CRON_TZ=Europe/Berlin\n0 1 * * * b\n')).notes), 0);
  });

  test('says what to do instead of a variable of cron', async () => {
    const { notes } = await imported('crontab', 'MAILTO=ops\n0 1 * * * a\n');
    assert.deepEqual(notes.slice(0, 1), [
      'Left out: line 1: the variable MAILTO; the output is kept with each job; for messages see svc serve --notify.',
    ]);
  });

  test('runs each command with the variables above it, and with their shell', async () => {
    const text = 'DIR=/a\n0 1 * * * one $DIR/*\nDIR = " b "\nSHELL=/bin/bash\n0 2 * * * two\n0 3 * * * three && four\n';
    const { schedules } = await imported('crontab', text);
    assert.deepEqual(
      Object.values(schedules).map((each) => each['command']),
      [
        ['env', 'DIR=/a', 'sh', '-c', 'one $DIR/*'],
        ['env', 'DIR= b ', 'two'],
        ['env', 'DIR= b ', '/bin/bash', '-c', 'three && four'],
      ],
    );
    const long = 'N'.repeat(90);
    const { schedules: one } = await imported('crontab', `${long}=x\n0 1 * * * a\n`);
    assert.deepEqual(one['a']?.['command'], ['env', `${long}=x`, 'a']);
  });

  test('leaves out the commands below a variable that may be a credential, and shows no value of it', async () => {
    for (const line of ['RESTIC_PASSWORD=hunter2', 'REPO=https://me:hunter2@example.org/x']) {
      const { schedules, notes } = await imported('crontab', `0 1 * * * a\n${line}\n0 2 * * * b\n`);
      assert.deepEqual(Object.keys(schedules), ['a']);
      const name = line.slice(0, line.indexOf('='));
      assert.ok(notes.some((note) => note.startsWith(`Left out: line 3: its variable ${name} may be a credential`)));
      assert.ok(!JSON.stringify(notes).includes('hunter2'));
    }
  });
});

const endpoint = (conditions: readonly string[]): string =>
  JSON.stringify({ endpoints: [{ name: 'a', url: 'https://example.org', conditions }] });

const monitor = (codes: readonly string[]): string =>
  JSON.stringify({
    monitorList: [{ name: 'a', type: 'http', url: 'https://example.org', accepted_statuscodes: codes }],
  });

describe('A check that would say the opposite is left out', () => {
  test('of Gatus, where its target must not answer, or no condition can be kept', async () => {
    const leftOut = [['[CONNECTED] == false'], ['[STATUS] == 200', '[CONNECTED] != true'], ['[STATUS] != 500']];
    for (const conditions of leftOut) assert.deepEqual((await imported('gatus', endpoint(conditions))).checks, {});
    const { checks, notes } = await imported('gatus', endpoint(['[STATUS] == 200', '[BODY] != pat(*bad*)']));
    assert.equal(checks['a']?.['expect'], 200);
    assert.ok(notes.some((note) => note.includes('the condition [BODY] != pat(*bad*) is left out')));
  });

  test('of Uptime Kuma, where it accepts errors alone', async () => {
    assert.deepEqual((await imported('uptime-kuma', monitor(['500-599', '404']))).checks, {});
    assert.equal((await imported('uptime-kuma', monitor(['404']))).checks['a']?.['expect'], 404);
    assert.deepEqual(Object.keys((await imported('uptime-kuma', monitor(['200-299', '404']))).checks), ['a']);
  });
});

describe('The report of playbooks', () => {
  test('of Semaphore names bad times, a missing template and survey_vars', async () => {
    const common = { playbook: 'x.yml', repository: 'Ops', inventory: 'Prod' };
    const text = JSON.stringify({
      templates: [{ ...common, name: 'Patch', survey_vars: [{ name: 'a' }] }],
      schedules: [
        { name: 'Night', cron_format: '0 3 * * *', template: 'Patch' },
        { cron_format: '0 4 * * *', template: 'Patch' },
        { name: 'Bad', cron_format: 'x', template: 'Patch' },
        { name: 'Lost', cron_format: '0 3 * * *', template: 'Gone' },
        null,
      ],
    });
    const { schedules, notes } = await imported('semaphore', text);
    assert.deepEqual(Object.keys(schedules), ['night', 'patch']);
    assert.deepEqual(
      notes.map((note) => note.slice(0, 60)),
      [
        'Left out: Lost: its template "Gone" is missing in the file.',
        'Left out: schedule 5: it has no fields.',
        'Needed: svc source add ops --git URL',
        'Needed: svc inventory add prod --file FILE',
        'night: its survey_vars are left out.',
        'patch: its survey_vars are left out.',
        'Left out: Patch (Bad): cron: expected five fields (minute, h',
      ],
    );
  });

  test('of AWX names become_enabled; a check changes nothing here too', async () => {
    const template = {
      name: 'Patch',
      playbook: 'x.yml',
      project: { name: 'Ops' },
      inventory: { name: 'Prod' },
      job_type: 'check',
      become_enabled: true,
      related: { schedules: [{ name: 'day', rrule: 'DTSTART:20250101T040000Z RRULE:FREQ=DAILY' }] },
    };
    const { schedules, notes } = await imported('awx', JSON.stringify({ job_templates: [template] }));
    assert.equal(schedules['patch-day']?.['check'], true);
    assert.deepEqual(notes, [
      'Needed: svc source add ops --git URL',
      'Needed: svc inventory add prod --file FILE',
      'patch-day: its become_enabled is left out; write become: true into the playbook.',
    ]);
  });
});

test('A URL of a check with a credential is named', async () => {
  const monitorList = [{ name: 'Web', type: 'http', url: 'https://u:p@example.org/' }];
  assert.deepEqual(await notesOf('uptime-kuma', { monitorList }), [
    'Needed: web: write the credential in place of [kept] in its URL',
  ]);
});

test('An empty file is refused as an empty one', async () => {
  for (const from of Object.keys(IMPORTERS)) assert.equal(await refusalOf(from, ' \n'), 'file: it is empty.');
});
