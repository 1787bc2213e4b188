import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Display } from '../../src/faces/text/display.ts';
import { render } from '../../src/faces/cli/render.ts';

const DISPLAY: Display = { nowMs: 0, color: false, width: null };
const EU = { id: 'net_1', name: 'dc-eu', prefixes: ['10.0.0.0/16', 'fd00::/8'], excludes: ['10.0.9.0/24'] };

test('Netgroups are shown with their prefixes and exclusions', () => {
  const [head, eu, lab] = render('netgroup.list', [EU, { ...EU, name: 'lab', excludes: [] }], DISPLAY).split('\n');
  assert.match(head ?? '', /^NAME +PREFIXES +EXCLUDES$/);
  assert.match(eu ?? '', /^dc-eu +10\.0\.0\.0\/16, fd00::\/8 +10\.0\.9\.0\/24$/);
  assert.match(lab ?? '', /^lab +10\.0\.0\.0\/16, fd00::\/8 +-$/);
  assert.match(
    render('netgroup.list', [], DISPLAY),
    /^No netgroups; every address is away\. Add one with: svc netgroup/,
  );
  assert.match(render('netgroup.get', { ...EU, excludes: [] }, DISPLAY), /^Netgroup +dc-eu\n[^]*^Excludes +none$/m);
});

const text = (netgroup: string, match: object | null): string =>
  render('netgroup.classify', { address: '10.0.1.19', netgroup, match }, DISPLAY);

test('The group of an address is a sentence with the prefix that decides', () => {
  const match = { netgroup: 'dc-eu', prefix: '10.0.1.0/24' };
  assert.equal(text('dc-eu', { ...match, excluded: false }), '10.0.1.19 is in dc-eu, by 10.0.1.0/24.\n');
  assert.equal(text('away', { ...match, excluded: true }), '10.0.1.19 is away: dc-eu excludes 10.0.1.0/24.\n');
  assert.equal(text('away', null), '10.0.1.19 is away: no netgroup covers it.\n');
});
