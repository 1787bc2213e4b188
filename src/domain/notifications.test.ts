import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composeNotification, foldFacts, type NotificationFacts } from './notifications.ts';
import type { NotificationContext, PushDetail } from './notify/row.ts';
import { timeLeft } from './duration.ts';
import type { EndedFacts } from './jobs/notifications.ts';
import type { MatchedFacts } from './rules/notifications.ts';

const NOW = Date.UTC(2026, 10, 21);
const context = (detail: PushDetail = 'summary'): NotificationContext => ({
  id: 'page_1',
  detail,
  now: NOW,
  baseUrl: 'http://svc.test',
  node: 'vm',
  links: null,
});
const compose = (facts: NotificationFacts, detail?: PushDetail) => composeNotification(facts, context(detail));
const ended = (n: number, some: Partial<EndedFacts> = {}): EndedFacts => ({
  kind: 'job',
  jobId: `job_${n}`,
  runbook: 'command:localhost',
  state: 'failed',
  exitCode: 1,
  ...some,
});
const matched = (n: number, some: Partial<MatchedFacts> = {}): MatchedFacts => ({
  kind: 'rule',
  rule: 'disk',
  eventId: `evt_${n}`,
  event: 'DiskFull',
  message: null,
  ...some,
});

describe('The time left', () => {
  const S = 1_000;
  const M = 60 * S;
  const H = 60 * M;
  for (const [title, cases] of [
    [
      'is shown in seconds below two minutes',
      [
        [40 * S, '40s'],
        [M, '1m'],
        [90 * S, '1m30s'],
        [119 * S, '1m59s'],
        [1_200, '1s'],
      ],
    ],
    [
      'is shown in minutes below a day',
      [
        [2 * M, '2m'],
        [2 * M + 20 * S, '2m'],
        [5 * M + 40 * S, '5m'],
        [65 * M, '1h5m'],
        [H, '1h'],
        [23 * H + 59 * M, '23h59m'],
      ],
    ],
    [
      'is shown in hours from a day on',
      [
        [24 * H, '1d'],
        [51 * H + 10 * M, '2d3h'],
        [7 * 24 * H, '7d'],
      ],
    ],
    [
      'is a round one where it began a moment ago',
      [
        [H - 80, '1h'],
        [2 * M - 80, '2m'],
        [24 * H - 80, '1d'],
        [7 * 24 * H - 80, '7d'],
        [30 * S - 80, '30s'],
      ],
    ],
  ] as const) {
    test(title, () =>
      assert.deepEqual(
        cases.map(([ms]) => timeLeft(ms)),
        cases.map(([, words]) => `${words} left`),
      ),
    );
  }

  test('is "no time left" once the deadline has come', () => {
    assert.deepEqual([0, -5 * M, 200].map(timeLeft), ['no time left', 'no time left', 'no time left']);
  });

  test('is part of the request and of its reminder', () => {
    const asked = {
      approvalId: 'apr_1',
      jobId: 'job_1',
      jobKind: 'command',
      runbook: 'command:localhost',
      workspace: null,
      requestedBy: 'ci',
      rule: null,
      schedule: null,
      about: null,
      expiresAt: NOW + 40_000,
      plan: null,
    } as const;
    for (const kind of ['approval', 'reminder'] as const)
      assert.equal(compose({ kind, ...asked }).message, 'Asked by ci, 40s left. job_1');
  });

  test(
    'is said with what asks: the schedule, or the rule and what its event is about, without what would turn the ' +
      'text around',
    () => {
      const asked = {
        kind: 'approval',
        approvalId: 'apr_1',
        jobId: 'job_1',
        jobKind: 'command',
        runbook: 'command:localhost',
        workspace: null,
        requestedBy: 'ci',
        rule: null,
        schedule: null,
        about: null,
        expiresAt: NOW + 40_000,
        plan: null,
      } as const;
      const scheduled = compose({ ...asked, schedule: 'nightly' });
      assert.deepEqual(
        [scheduled.title, scheduled.message],
        ['Approve? command of schedule nightly · gatehouse on vm', 'Asked by ci (schedule nightly), 40s left. job_1'],
      );
      const ruled = compose({ ...asked, rule: 'disk', about: 'Disk\u202eFull\u0007 on web1' });
      assert.deepEqual(
        [ruled.title, ruled.message],
        [
          'Approve? command of rule disk · gatehouse on vm',
          'Asked by ci (rule disk: Disk Full on web1), 40s left. job_1',
        ],
      );
      assert.equal(compose(matched(1, { message: 'one\ntwo' })).title, 'one two · gatehouse on vm');
    },
  );
});

describe('A notification that summarises others', () => {
  test('says how many jobs ended and how, which runbooks they were, and the ids of the first 20', () => {
    const jobs = Array.from({ length: 30 }, (_, n) =>
      ended(n, n % 15 === 0 ? { state: 'degraded', runbook: 'plan:net' } : {}),
    );
    const page = compose(foldFacts(jobs));
    assert.equal(page.title, '30 jobs ended: 28 failed, 2 degraded · gatehouse on vm');
    assert.match(page.message, /one by one: plan:net, command:localhost\. job_0, job_1, .*, job_19 and 10 more$/);
    assert.deepEqual([page.click, page.priority], ['http://svc.test/jobs', 4]);
  });

  test('says how often a rule matched, with what it says and the names and ids of the events', () => {
    const page = compose(foldFacts(Array.from({ length: 40 }, (_, n) => matched(n, { message: 'The disk is full' }))));
    assert.equal(page.title, 'Rule disk matched 40 times · gatehouse on vm');
    assert.match(page.message, /^The disk is full: DiskFull\. evt_0, .* and 20 more$/);
    const two = compose(foldFacts([matched(1, { message: 'a' }), matched(2, { message: 'b', event: 'DiskSlow' })]));
    assert.equal(two.message, 'a (and other messages): DiskFull, DiskSlow. evt_1, evt_2');
  });

  test('is the notification itself if it summarises one, at every rung', () => {
    for (const detail of ['full', 'summary', 'terse'] as const) {
      for (const one of [ended(1), matched(1), matched(1, { message: 'The disk is full' })])
        assert.deepEqual(compose(foldFacts([one]), detail), compose(one, detail));
    }
  });

  test('says at the rung terse how many, and nothing but the ids of the jobs', () => {
    const jobs = compose(foldFacts([ended(1), ended(2)]), 'terse');
    assert.deepEqual([jobs.title, jobs.message], ['svc: 2 jobs ended', 'job_1, job_2']);
    const rules = compose(foldFacts([matched(1), matched(2)]), 'terse');
    assert.deepEqual([rules.title, rules.message], ['svc: a rule matched 2 times', '']);
  });

  test('fits into one message of Web Push, also where it names the most', () => {
    const long = 'x'.repeat(60);
    const page = compose(
      foldFacts(
        Array.from({ length: 10_000 }, (_, n) =>
          ended(n, { jobId: `job_${long.slice(0, 26)}`, runbook: `rule:${n}-${long}` }),
        ),
      ),
    );
    assert.ok(Buffer.byteLength(JSON.stringify(page)) < 3_000);
  });
});
