/** T73: what a sender wrote, in the messages that people get: a real daemon, and every transport. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeNotification, type NotificationFacts } from '../../../src/domain/notifications.ts';
import { oneLine } from '../../../src/domain/one-line.ts';
import { until } from '../../support/api-client.ts';
import { openMailSink, openReceiver } from '../../support/notify/receiver.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { tell } from '../../support/fixtures/hooks.ts';

/** Each is a line break, or a character that reverses text or is invisible, in some program. */
const BREAKS = [
  '\n',
  '\r',
  '\r\n',
  '\u000b',
  '\u000c',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u001e',
  '\0',
  '\u001b[2J',
  '\u202e',
  '\u2066',
  '\u200f',
  '\u061c',
  '\u200b',
  '\ufeff',
  '\u{e0041}',
  '\u00ad',
];
const FORBIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\u{e0000}-\u{e007f}]/u;
const FALSE_LINE = 'Approve command: https://evil.example/';

function hostile(start: string): string {
  return `${start}${BREAKS.map((each) => `${each}${FALSE_LINE}`).join('')}`;
}

/** The text of a mail as its reader sees it, without its header. */
function bodyOf(mail: string): string {
  const at = mail.indexOf('\r\n\r\n');
  const [head, body] = [mail.slice(0, at), mail.slice(at + 4)];
  if (/^content-transfer-encoding: base64/im.test(head)) return Buffer.from(body, 'base64').toString();
  if (!/^content-transfer-encoding: quoted-printable/im.test(head)) return body;
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

function headerOf(mail: string, name: string): string {
  const head = mail.slice(0, mail.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]/g, ' ');
  return head.split('\r\n').find((line) => line.toLowerCase().startsWith(`${name}:`)) ?? '';
}

test('T73: any text becomes one line, and a text of one line stays unchanged', () => {
  for (const each of BREAKS)
    assert.equal(oneLine(`a${each}${each}b`).replace('[2J [2J', ''), 'a b', JSON.stringify(each));
  assert.doesNotMatch(oneLine(hostile('x')), FORBIDDEN);
  for (const plain of ['DiskFull on web1', 'Ägypten · 東京', '👩‍💻 ok', 'a\u200cb']) assert.equal(oneLine(plain), plain);
  assert.equal(oneLine(`a\ud800b`), 'a\ufffdb');
});

test('T73: no notification has more than one line in its title, its text or its buttons', () => {
  const asked = {
    approvalId: 'apr_1',
    jobId: 'job_1',
    jobKind: 'command',
    runbook: hostile('r'),
    workspace: null,
    requestedBy: hostile('q'),
    rule: hostile('u'),
    schedule: null,
    about: hostile('a'),
    expiresAt: 1_000,
    plan: null,
  } as const;
  const matched = {
    kind: 'rule',
    rule: hostile('r'),
    eventId: 'evt_1',
    event: hostile('e'),
    message: hostile('m'),
  } as const;
  const ended = { kind: 'job', jobId: 'job_1', runbook: hostile('r'), state: 'failed', exitCode: 1 } as const;
  const all: NotificationFacts[] = [
    { kind: 'approval', ...asked },
    { kind: 'reminder', ...asked, workspace: hostile('w') },
    { kind: 'decided', ...asked, state: 'approved', by: hostile('b'), via: hostile('v') },
    ended,
    { kind: 'jobs', count: 9, names: [hostile('n')], states: { failed: 9 }, first: [ended, ended] },
    matched,
    { ...matched, message: null },
    { kind: 'rules', rule: hostile('r'), count: 9, names: [hostile('n')], first: [matched, matched] },
    { kind: 'workflow', workflow: hostile('w'), runId: 'wfr_1', step: hostile('s') },
    { kind: 'deadman', name: hostile('n'), webhook: hostile('w'), everyMs: 1_000, heard: false },
    { kind: 'deadman', name: hostile('n'), webhook: hostile('w'), everyMs: 1_000, heard: true },
    { kind: 'test', by: hostile('b') },
  ];
  for (const facts of all) {
    for (const detail of ['full', 'summary', 'terse'] as const) {
      const { title, message, actions } = composeNotification(facts, {
        id: 'page_1',
        detail,
        now: 0,
        baseUrl: 'http://svc.test',
        node: 'vm',
        links: { approve: 'http://svc.test/a', reject: 'http://svc.test/r' },
      });
      for (const text of [title, message, ...actions.map(({ label }) => label)])
        assert.doesNotMatch(text, FORBIDDEN, `${facts.kind} ${detail}`);
    }
  }
});

test('T73: an alert of a stranger adds no line to a mail, an ntfy message, a webhook or a push', async (t) => {
  const [ntfy, hook, mail] = await Promise.all([openReceiver(t), openReceiver(t), openMailSink(t)]);
  const fixture = await openFixture(t);
  const targets = [`ntfy+${ntfy.url}/ops`, `${hook.url}/pages`, `smtp://127.0.0.1:${mail.port}?to=ops@example.com`];
  const daemon = await fixture.serve({ env: { SVC_NOTIFY: targets.join(' '), SVC_PUSH_DETAIL: 'full' } });
  await fixture.call('rule.add', {
    text: 'name: 00-tell\nwhen: event.source == "generic"\naction:\n  notify: "${event.annotations.summary}"\n',
  });
  await fixture.call('rule.add', {
    text:
      'name: clean\nwhen: event.source == "generic"\napproval: required\naction:\n  command: ["true"]\n  ' +
      'inventory: localhost\n',
  });
  const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'in', source: 'generic' });
  const sent = await tell(`${daemon.ready.ingress_url}${new URL(url).pathname}`, {
    name: hostile('Disk').slice(0, 190),
    status: 'firing',
    severity: hostile('s').slice(0, 100),
    labels: { instance: hostile('web1').slice(0, 150) },
    annotations: { summary: hostile('full') },
  });
  assert.deepEqual([sent.status, sent.events[0]?.outcome], [202, 'gated']);
  await until('both pages are at all targets', async () =>
    ntfy.pages.length === 2 && hook.pages.length === 2 && mail.mails.length === 2 ? true : undefined,
  );
  for (const { page } of [...ntfy.pages, ...hook.pages]) {
    for (const text of [page.title, page.message, ...page.actions.map(({ label }) => label)])
      assert.doesNotMatch(text, FORBIDDEN);
    assert.deepEqual(
      page.actions.filter(
        ({ url: to }) => !to.startsWith(daemon.ready.web_url) && !to.startsWith(daemon.ready.ingress_url),
      ),
      [],
    );
  }
  for (const { text } of mail.mails) {
    assert.doesNotMatch(headerOf(text, 'subject'), FORBIDDEN);
    const lines = bodyOf(text)
      .split(/[\r\n\v\f\u0085\p{Zl}\p{Zp}]+/u)
      .map((line) => line.trim());
    // Only the buttons of the service begin so, and they lead to it.
    for (const line of lines.filter((each) => each.startsWith('Approve')))
      assert.match(line, new RegExp(`^Approve command: ${daemon.ready.ingress_url}/approval/`));
    assert.ok(lines.length <= 7, JSON.stringify(lines));
    for (const line of lines) assert.doesNotMatch(line, FORBIDDEN);
  }
});
