/** The checker of the notification kills finds each fault that it is made for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNotifications, type NotificationHistory } from '../../night/chaos/notification-history.ts';

const PAGE = 'page_01m7yd4zyke00anp2z332d2j5p';
const OTHER = 'page_01m7yd4zyke00anp2z332d2j6p';

/** A job and two requests that were sent together. Two kills, and one repeat. */
const HISTORY: NotificationHistory = {
  jobs: ['job_a'],
  asked: ['apr_a', 'apr_b'],
  decided: [],
  pages: [
    { id: PAGE, topic: 'job:job_a', reason: null },
    { id: OTHER, topic: 'approvals:apr_a', reason: null },
    { id: 'page_a', topic: 'approval:apr_a', reason: `sent with ${OTHER}` },
    { id: 'page_b', topic: 'approval:apr_b', reason: `sent with ${OTHER}` },
  ],
  deliveries: [{ notificationId: PAGE, state: 'waiting', attempts: 3, nextAt: 0, failure: 'timeout' }],
  arrivals: [
    { notificationId: PAGE, message: 'Job job_a failed.', at: 1_000 },
    { notificationId: PAGE, message: 'Job job_a failed.', at: 3_000 },
    { notificationId: OTHER, message: '2 approvals pending.', at: 4_000 },
  ],
  killedAt: [1_010, 9_000],
};
const [first, again, others] = HISTORY.arrivals;

test('F20: A notification that is repeated after a separate kill is in order', () => {
  assert.deepEqual(checkNotifications(HISTORY), []);
});

test('F20: A notification that never arrived is lost, for each topic in it', () => {
  const lost = checkNotifications({ ...HISTORY, arrivals: [others!] });
  assert.deepEqual(
    lost.map(({ rule, what }) => [rule, what]),
    [
      ['lost', 'no notification of job:job_a arrived'],
      [
        'lost',
        `${PAGE} about job:job_a never arrived: waiting after 3 failed attempts (timeout), ` +
          'next 1970-01-01T00:00:00.000Z',
      ],
    ],
  );
  const unasked = checkNotifications({ ...HISTORY, arrivals: [first!] });
  assert.deepEqual(
    unasked.map(({ what }) => what),
    [
      'no notification of approval:apr_a arrived',
      'no notification of approval:apr_b arrived',
      `${OTHER} about approvals:apr_a never arrived: it has no delivery`,
    ],
  );
  assert.deepEqual(
    checkNotifications({ ...HISTORY, decided: ['apr_a'] }).map(({ what }) => what),
    ['no notification of decided:apr_a arrived'],
  );
});

test('F20: A repeat without a kill in between, or with one that explains another, is a fault', () => {
  for (const killedAt of [[], [9_000], [500]])
    assert.deepEqual(
      checkNotifications({ ...HISTORY, killedAt }).map(({ rule }) => rule),
      ['doubled'],
    );
  const twice = [first!, again!, others!, { ...others!, at: 4_500 }, { ...others!, at: 5_000 }];
  assert.deepEqual(
    checkNotifications({ ...HISTORY, arrivals: twice, killedAt: [1_010, 4_200] }).map(({ rule }) => rule),
    ['doubled'],
  );
  assert.deepEqual(checkNotifications({ ...HISTORY, arrivals: twice, killedAt: [1_010, 4_200, 4_700] }), []);
});

test('F20: A request with a separate notification that is also in one for several is a fault', () => {
  const own = HISTORY.pages.map((page) => (page.id === 'page_a' ? { ...page, reason: null } : page));
  const arrivals = [...HISTORY.arrivals, { notificationId: 'page_a', message: 'A command waits.', at: 5_000 }];
  assert.deepEqual(checkNotifications({ ...HISTORY, pages: own, arrivals }), [
    { rule: 'two notifications', what: `the request apr_a was notified as page_a and ${OTHER}` },
  ]);
  assert.deepEqual(checkNotifications({ ...HISTORY, arrivals }), [
    { rule: 'two notifications', what: `the request apr_a was notified as page_a and ${OTHER}` },
  ]);
});

test('F20: One end that is notified under two ids is a fault', () => {
  const pages = [...HISTORY.pages, { id: 'page_c', topic: 'armed:job_a', reason: null }];
  const arrivals = [...HISTORY.arrivals, { notificationId: 'page_c', message: 'Job job_a failed.', at: 5_000 }];
  assert.deepEqual(
    checkNotifications({ ...HISTORY, pages, arrivals }).map(({ rule }) => rule),
    ['two notifications'],
  );
});
