import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Display } from '../../src/faces/text/display.ts';
import { render } from '../../src/faces/cli/render.ts';

const DISPLAY: Display = { nowMs: 0, color: false, width: 80 };
const TARGET = { status: 'up', netgroup: 'dc-eu', duration_ms: 4, last_change: null };
const HISTORY = {
  uptime_24h: 0.99997,
  uptime_7d: 1,
  uptime_30d: 0.5,
  uptime_90d: null,
  p50_ms: 4.26,
  p90_ms: 12.4,
  p99_ms: null,
  half_hours: ['none', 'missed', 'up', 'down', ...Array.from({ length: 44 }, () => 'up')],
};
const CHECK = { name: 'web', kind: 'tcp', interval: '30s', enabled: true };

test('The history of a target is shown by its shares, its durations and a mark for each half hour', () => {
  const targets = [
    { name: 'web1', ...TARGET, history: HISTORY },
    { name: 'web2', ...TARGET },
  ];
  const text = render('check.get', { ...CHECK, targets }, DISPLAY);
  // 99.997 % was down once, so it is not shown as 100 %.
  assert.match(text, /^web1 +99\.99 % +100 % +50\.00 % +- +4\.3ms +12ms +-$/m);
  assert.match(text, /^web1 {4}\.\?\|!\|{44}$/m);
  assert.match(text, /^A mark is half an hour: /m);
  assert.ok(text.split('\n').every((line) => line.length <= 100));
  assert.equal(text.match(/^web2/gm)?.length, 1, 'a target without a history is listed once');
});

test('Without any history nothing is said about it', () => {
  const text = render('check.get', { ...CHECK, targets: [{ name: 'web1', ...TARGET }] }, DISPLAY);
  assert.doesNotMatch(text, /LAST 24 HOURS|half an hour/);
});

test('The check of a target that is down names the command that says why', () => {
  const show = (status: string) =>
    render('check.get', { ...CHECK, targets: [{ name: 'web1', ...TARGET, status }] }, DISPLAY);
  assert.match(show('down'), new RegExp(`^See why a target is down: svc check probe ${CHECK.name}$`, 'm'));
  assert.doesNotMatch(show('up'), /See why/);
});
