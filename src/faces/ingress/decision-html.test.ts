import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { JOB_KINDS } from '../../domain/jobs/job.ts';
import type { Asked, DecisionPage } from '../../operations/approvals/decision-page.ts';
import { DECISION_HEADERS, decisionHtml, failureHtml } from './decision-html.ts';
import {
  ASKED,
  NOW,
  NOWHERE,
  ORDER,
  orderOf,
  PROOF,
  QUESTION,
  RACK,
  textOf,
} from '../../../test/support/decisions/pages.ts';

const OUTCOME = {
  show: 'outcome',
  asked: ASKED,
  fresh: false,
  state: 'approved',
  at: NOW - 140_000,
  by: 'ana',
  via: 'cli',
  reason: null,
} as const;
const MAX_BYTES = 16_384;

function say(page: DecisionPage): string {
  return textOf(decisionHtml(page, RACK));
}

function header(name: string): string | undefined {
  return DECISION_HEADERS[DECISION_HEADERS.indexOf(name) + 1];
}

/** The heading of a question about a job without a saved plan. */
function ask(more: Partial<Asked>): string {
  const page = decisionHtml({ ...QUESTION, asked: { ...ASKED, planned: false, ...more } }, NOWHERE);
  return /<h1>(.*)<\/h1>/.exec(page)?.[1] ?? '';
}

function asking(more: Partial<Asked>, destroyed: readonly string[] = []): DecisionPage {
  const entries = destroyed.map((address) => ({ address, action: 'destroy' as const }));
  return {
    ...QUESTION,
    asked: { ...ASKED, ...more },
    plan: { destroys: entries.length, counts: '2 to change', destroyed: entries },
  };
}

test('A question says where, what, how much, who asked and until when, and its button says what it does', () => {
  const plan = {
    destroys: 2,
    counts: '1 to destroy, 1 to replace, 2 to change, 5 to create',
    destroyed: [
      { address: 'a.b', action: 'destroy' },
      { address: 'c.d[0]', action: 'replace' },
    ],
  } as const;
  const text = textOf(
    decisionHtml({ ...QUESTION, asked: { ...ASKED, origin: 'alert', rule: 'disk-full' }, plan }, RACK),
  );
  for (const line of [
    'svc on rack-01',
    'Apply plan to net?',
    'Destroys or replaces 2',
    '− a.b',
    '−/+ c.d[0] (replaced)',
    'Plan: 1 to destroy, 1 to replace, 2 to change, 5 to create.',
    'Asked by ci-deploy, because of an alert (rule disk-full).',
    'If no one decides by 14:30 UTC, 24m left, it is refused.',
    'Approve, destroying 2',
  ]) {
    assert.ok(text.includes(line), `${line} is missing in ${text}`);
  }
});

test('A summary is what the author says, below the words of the order', () => {
  const asked = { ...ASKED, planned: false, summary: 'harmless' };
  const page: DecisionPage = { ...QUESTION, asked, plan: null, order: { ...ORDER, summary: 'harmless' } };
  assert.match(say(page), /Runs\s+find [^]*\sIts author says\s+harmless\s[^]*Asked by/);
  assert.equal(say(page).split('harmless').length, 2);
  assert.match(say({ ...page, order: null }), /harmless\s+Asked by/);
});

test('A link has the one button of its decision', () => {
  assert.match(
    decisionHtml(asking({}), NOWHERE),
    /<button class="yes" name="seen" value="f{64}">Approve apply<\/button>/,
  );
  assert.match(
    decisionHtml(asking({}, ['a.b']), NOWHERE),
    /<button class="danger" name="seen" value="f{64}">Approve, destroying 1<\/button>/,
  );
  assert.match(
    decisionHtml(asking({ decision: 'reject' }, ['a.b']), NOWHERE),
    /<button class="no" name="seen" value="f{64}">Reject apply<\/button>/,
  );
});

test('Every kind of job has its question, also when a rule made it', () => {
  assert.deepEqual(
    Object.fromEntries(JOB_KINDS.map((kind) => [kind, ask({ kind, workspace: null, runbook: `${kind}:x` })])),
    {
      plan: 'Plan x?',
      apply: 'Apply x without a saved plan?',
      destroy: 'Destroy everything in x?',
      drift: 'Check drift of x?',
      playbook: 'Run playbook x?',
      command: 'Run a command on x?',
      backup: 'Back up x?',
      vendor: 'Vendor x?',
      config: 'Change the configuration: x?',
    },
  );
  assert.equal(
    ask({ kind: 'playbook', workspace: null, runbook: 'rule:disk-full' }),
    'Do the playbook run of rule disk-full?',
  );
});

test('Twenty addresses are shown, the others counted', () => {
  const text = textOf(
    decisionHtml(
      asking(
        {},
        Array.from({ length: 50 }, (_, n) => `terraform_data.r[${n}]`),
      ),
      NOWHERE,
    ),
  );
  assert.match(text, /− terraform_data\.r\[19\]\n and 30 more\n/);
  assert.doesNotMatch(text, /r\[20\]/);
});

test('A plan that cannot be opened can be rejected but not approved', () => {
  const plan = { destroys: 3, counts: '3 to destroy', destroyed: null };
  const page = decisionHtml({ ...QUESTION, plan }, NOWHERE);
  assert.doesNotMatch(page, /<form|<button/);
  assert.match(page, /cannot be opened/);
  const both = decisionHtml({ ...QUESTION, plan, reject: { token: 'r', proof: PROOF } }, NOWHERE);
  assert.deepEqual(both.match(/<button[^>]*>[^<]*/g), [
    `<button class="no" name="seen" value="${PROOF}" formaction="reject?token=r">Reject apply`,
  ]);
  assert.match(
    decisionHtml({ ...QUESTION, asked: { ...ASKED, decision: 'reject' }, plan }, NOWHERE),
    /<button class="no" /,
  );
});

test('Each outcome has its own text', () => {
  assert.match(
    say({ ...OUTCOME, fresh: true }),
    /✓ Approved at 14:03:40 UTC\s+Job job_01m7yd4zyke00anp2z332d2j5p is queued\.\s+You can close this page\./,
  );
  assert.match(
    say({ ...OUTCOME, fresh: true, state: 'rejected' }),
    /Rejected at 14:03:40 UTC\s+Job \S+ is cancelled: nothing runs\./,
  );
  assert.match(
    say({ ...OUTCOME, reason: 'looks fine' }),
    new RegExp(
      String.raw`Already approved at 14:03:40 UTC by ana\s+` +
        String.raw`It was approved on the command line\. Nothing more was done\.\s+Reason: looks fine`,
    ),
  );
  assert.match(
    say({ show: 'expired', asked: { ...ASKED, expiresAt: NOW - 1 } }),
    /Expired at 14:05:59 UTC\s+No one decided in time, so the request was refused\. Nothing runs\./,
  );
  assert.match(
    say({ show: 'stale', asked: ASKED, serial: 43 }),
    /The state moved to serial 43 after the plan was made\. Nothing was approved\. Someone must plan again\./,
  );
  assert.match(
    say({ show: 'stale', asked: { ...ASKED, decision: 'reject' }, serial: null }),
    /no longer the one of this request\. Nothing was rejected\./,
  );
  assert.match(say({ show: 'own', asked: ASKED }), /you can neither approve nor reject it\. Nothing was decided\./);
  assert.doesNotMatch(say({ show: 'unknown' }), /rack-01/, 'a visitor without a link learns nothing about the machine');
});

test('T44: foreign text cannot leave its place, hide or reverse letters', () => {
  const evil = '\u202e</main><script>alert(1)</script>\u200b"\u001b[31m\n';
  const asked: Asked = {
    ...ASKED,
    summary: evil,
    jobId: evil,
    workspace: evil,
    requestedBy: evil,
    because: evil,
    rule: evil,
    origin: 'alert',
  };
  const pages: DecisionPage[] = [
    {
      ...QUESTION,
      asked,
      plan: { destroys: 1, counts: '1 to replace', destroyed: [{ address: evil, action: 'replace' }] },
    },
    { ...QUESTION, asked: { ...asked, workspace: null, runbook: evil }, order: orderOf(evil) },
    { ...QUESTION, asked, order: evil },
    { ...OUTCOME, asked, fresh: true, reason: evil },
    { ...OUTCOME, asked, by: evil, via: evil, reason: evil },
    { show: 'stale', asked, serial: 1 },
    { show: 'own', asked },
  ];
  for (const page of [...pages.map((each) => decisionHtml(each, { ...RACK, host: evil })), failureHtml(evil)]) {
    assert.doesNotMatch(page, /<script|\p{Cf}|(?!\n)\p{Cc}/u);
    assert.equal(page.match(/<main>/g)?.length, 1);
    assert.match(page, /\\u202e/);
  }
});

test('The page is at most 16 KB, whatever it shows', () => {
  const sizes = ['"', '&', '漢', '\u202e', '😀', 'x'].map((letter) => {
    const long = letter.repeat(2_000);
    const asked: Asked = {
      ...ASKED,
      workspace: long,
      requestedBy: long,
      because: long,
      rule: long,
      origin: 'alert',
      expiresAt: NOW + 86_400_000,
    };
    const question = {
      ...asking(
        asked,
        Array.from({ length: 5_000 }, () => long),
      ),
      order: orderOf(long),
    };
    return Math.max(
      ...[question, { ...OUTCOME, asked, by: long, via: long, reason: long }].map((page) =>
        Buffer.byteLength(decisionHtml(page, { ...RACK, host: long })),
      ),
    );
  });
  assert.ok(Math.max(...sizes) <= MAX_BYTES, `${sizes.join(', ')} bytes`);
});

test('The page loads and runs nothing, and the policy names the hash of its one style', () => {
  const page = decisionHtml(asking({}, ['a.b']), RACK);
  assert.doesNotMatch(page, /<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:|style=| on[a-z]+=/i);
  const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? '';
  const policy =
    `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; form-action ` +
    `'self'; base-uri 'none'; frame-ancestors 'none'`;
  assert.equal(header('Content-Security-Policy'), policy);
  assert.equal(header('Referrer-Policy'), 'no-referrer');
  assert.equal(header('X-Robots-Tag'), 'noindex');
  assert.equal(header('Cache-Control'), 'no-store');
  assert.equal(header('X-Content-Type-Options'), 'nosniff');
});
