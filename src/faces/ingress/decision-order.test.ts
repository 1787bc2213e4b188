import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER, PROOF, QUESTION, RACK, textOf } from '../../../test/support/decisions/pages.ts';
import { decisionHtml } from './decision-html.ts';

test('A question shows what runs, where, because of what and what it may touch, in that order', () => {
  const text = textOf(decisionHtml({ ...QUESTION, order: ORDER }, RACK)).replaceAll(/\s+/g, ' ');
  const lines = [
    "Runs find /srv/cache -name 'a b' -delete",
    'On web1, web2 (2 of prod, limit web)',
    'Alert DiskFull on web1, warning, firing',
    'Its sender says disk 95 % full',
    'May touch writes /srv/cache; gets the secrets app/db',
    'Time limit 1h',
    'Asked by ci-deploy.',
    'If no one decides by',
  ];
  const found = lines.map((line) => text.indexOf(line));
  assert.ok(!found.includes(-1), text);
  assert.deepEqual(
    found,
    found.toSorted((a, b) => a - b),
  );
});

test('A question has both answers, each with its own link, the console, and times of the zone', () => {
  const place = { ...RACK, timeZone: 'Asia/Kolkata', consoleUrl: 'https://svc.test/ops' };
  const page = decisionHtml({ ...QUESTION, reject: { token: 'other', proof: 'p' } }, place);
  assert.deepEqual(page.match(/<button[^>]*>[^<]*/g), [
    `<button class="yes" name="seen" value="${PROOF}">Approve apply`,
    '<button class="no" name="seen" value="p" formaction="reject?token=other">Reject apply',
  ]);
  assert.match(page, /<a href="https:\/\/svc\.test\/ops\/approvals\/apr_01m7yd4zyke00anp2z332d2j5p">/);
  assert.match(textOf(page), /If no one decides by 14:30 UTC \(20:00 \+05:30\), 24m left/);
});
