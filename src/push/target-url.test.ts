import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../domain/failure.ts';
import { mailOf } from './smtp.ts';
import { readTargets } from './target-names.ts';
import { readTargetUrl } from './target-url.ts';

const mail = (text: string) => mailOf(readTargetUrl(text, 1).url);

const NONE = /has an unknown scheme; expected ntfy\+https:\/\//;

/** What is wrong with each, in the words of its refusal. */
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['ops', NONE],
  ['mailto:ops@example.com', NONE],
  ['ftp://example.com/s3cret', NONE],
  ['constructor://example.com/s3cret', NONE],
  ['ntfy://example.com/s3cret', NONE],
  ['https:example.com/s3cret', NONE],
  ['smtp://?to=ops@example.com', /has no host/],
  ['smtp://:25?to=ops@example.com', /has no host/],
  ['smtps://user:s3cret@?to=ops@example.com', /has no host/],
  ['https:///s3cret', /has no host/],
  ['ntfy+https:///ops', /has no host/],
  ['ntfy+https://:s3cret@/ops', /has no host/],
  ['smtp://mail.example.com:0?to=ops@example.com', /an invalid port; expected a number from 1 to 65535/],
  ['smtp://mail.example.com:65536?to=ops@example.com', /an invalid port/],
  ['smtp://me:s3cret@mail.example.com:?to=ops@example.com', /an invalid port/],
  ['smtp://mail.example.com:smtp?to=ops@example.com', /an invalid port/],
  ['https://hooks.example.com:99999/s3cret', /an invalid port/],
  ['ntfy+http://ntfy.example.com:-1/ops', /an invalid port/],
  ['smtp://mail%2eexample.com?to=ops@example.com', /an invalid host/],
  ['https://[fd00::1/s3cret', /an invalid host/],
  ['https://hooks,example.com/s3cret', /an invalid host/],
  ['https://999.1.1.1/s3cret', /not a valid URL/],
  ['smtp://mail.example.com', /has no recipient/],
  ['smtp://mail.example.com?to=', /has no recipient/],
  ['smtp://mail.example.com?from=svc@example.com', /has no recipient/],
  ['smtp://mail.example.com?to=ops', /not a mail address/],
  ['smtp://mail.example.com?to=ops@example.com,', /not a mail address/],
  ['smtp://mail.example.com?to=ops+s3cret@example.com', /not a mail address; write a \+ in it as %2B/],
  ['smtp://mail.example.com?to=ops@example.com%0d%0aBcc:x@example.com', /not a mail address/],
  ['smtp://mail.example.com?to=ops@example.com&from=', /not a mail address/],
  ['smtp://mail.example.com?to=ops@example.com&from=%3Csvc@example.com%3E', /not a mail address/],
  ['smtp://mail.example.com?to=ops@example.com&password=s3cret', /an unknown query parameter/],
  ['smtp://mail.example.com?To=ops@example.com', /an unknown query parameter/],
  ['smtp://mail.example.com?to=ops@example.com&to=dev@example.com', /twice/],
  ['smtp://mail.example.com/ops@example.com', /has a path/],
  ['smtp://s3cret@mail.example.com?to=ops@example.com', /has only a user or only a password/],
  ['smtp://:s3cret@mail.example.com?to=ops@example.com', /has only a user or only a password/],
  ['smtp://me:s3cret%@mail.example.com?to=ops@example.com', /%25/],
  [
    'smtp://me:s3#cret@mail.example.com?to=ops@example.com',
    /fragment, which is never sent; write a # in a password as %23/,
  ],
  ['smtp://me:s3\\cret@mail.example.com?to=ops@example.com', /backslash/],
  ['ntfy+https://ntfy.example.com', /does not end with an ntfy topic/],
  ['ntfy+https://ntfy.example.com/', /does not end with an ntfy topic/],
  ['ntfy+https://ntfy.example.com/s3cret/', /does not end with an ntfy topic/],
  ['ntfy+https://ntfy.example.com/s3cret%2Fops', /does not end with an ntfy topic/],
  [`ntfy+https://ntfy.example.com/${'s3cret'.repeat(11)}`, /does not end with an ntfy topic/],
  ['ntfy+https://ntfy.example.com/ops?auth=s3cret', /has a query/],
  ['ntfy+https://:tk_s3cret%zz@ntfy.example.com/ops', /%25/],
  ['ntfy+https://ntfy.example.com/ops#s3cret', /fragment/],
  ['https://s3cret@hooks.example.com/pages', /has only a user or only a password; expected both or neither/],
  ['https://me:s3cret%zz@hooks.example.com/pages', /%25/],
  ['https://hooks.example.com/pages#s3cret', /fragment/],
];

test(
  'A target that cannot work is refused with what is wrong with it, which option it is and which of several, ' +
    'without a word of the URL',
  () => {
    for (const [text, why] of REFUSED) {
      assert.throws(
        () => readTargets(['http://one', 'http://two', text]),
        (error: unknown) => {
          assert.ok(error instanceof Failure && error.code === 'invalid_argument', text);
          assert.match(error.message, /^--notify: target 3 [^\n]*\.$/, text);
          assert.match(error.message, why, text);
          assert.ok(!/s3|hooks\.|mail\.example/.test(error.message), `${text}: ${error.message}`);
          return true;
        },
      );
    }
  },
);

test('A target that can work is taken, with what is written for a kind, a port and several recipients', () => {
  const good: readonly (readonly [string, string, string])[] = [
    ['ntfy+https://ntfy.example.com/ops', 'ntfy', 'https://ntfy.example.com/ops'],
    [
      'NTFY+HTTP://:tk_secret@[fd00::1]:8080/behind/a/proxy/ops_2-b',
      'ntfy',
      'http://:tk_secret@[fd00::1]:8080/behind/a/proxy/ops_2-b',
    ],
    ['ntfy+https://me:s%23crit@ntfy.example.com/ops', 'ntfy', 'https://me:s%23crit@ntfy.example.com/ops'],
    ['https://hooks.example.com/a?key=b%23', 'webhook', 'https://hooks.example.com/a?key=b%23'],
    ['https://bücher.example/', 'webhook', 'https://xn--bcher-kva.example/'],
    ['http://pager', 'webhook', 'http://pager/'],
    ['https://me:s%23crit@hooks.example.com/pages', 'webhook', 'https://me:s%23crit@hooks.example.com/pages'],
  ];
  for (const [text, kind, href] of good) {
    const target = readTargetUrl(text, 1);
    assert.deepEqual([target.kind, target.url.href], [kind, href]);
  }
  assert.deepEqual(mail('smtp://mail.example.com?to=ops@example.com,dev%2Bsvc@example.com'), {
    host: 'mail.example.com',
    port: 25,
    secure: false,
    auth: null,
    from: 'gatehouse@mail.example.com',
    to: 'ops@example.com,dev+svc@example.com',
  });
  assert.deepEqual(mail('smtp://me:a%40b@mail.example.com?to=ops@example.com&from=svc@example.com'), {
    host: 'mail.example.com',
    port: 587,
    secure: false,
    auth: { user: 'me', pass: 'a@b' },
    from: 'svc@example.com',
    to: 'ops@example.com',
  });
  assert.partialDeepStrictEqual(mail('smtps://[fd00::1]:80/?to=ops@example.com'), {
    host: 'fd00::1',
    port: 80,
    secure: true,
  });
});
