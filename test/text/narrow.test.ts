/** Tables and sheets on a terminal that is too narrow for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../src/faces/cli/render.ts';
import { terminalText } from '../../src/faces/cli/terminal-text.ts';
import { sheet, table } from '../../src/faces/text/blocks.ts';
import type { Display } from '../../src/faces/text/display.ts';

const PAGE: Display = { nowMs: Date.parse('2026-11-21T12:00:00.000Z'), color: false, width: null };

test('on a narrow terminal a list of events leaves out redundant columns, and fits', () => {
  const reason = 'Rule clean could not be evaluated: the event has no "mount"; its labels are alertname, instance.';
  const row = {
    id: 'evt_01m7ze6hxre008h2e35em64mcp',
    source: 'alertmanager',
    name: 'FilesystemAlmostOutOfSpace',
    status: 'firing',
    outcome: 'suppressed',
    reason,
    received_at: new Date(PAGE.nowMs).toISOString(),
  };
  const data = [row];
  for (const [width, columns] of [
    [140, 7],
    [96, 6],
    [80, 5],
  ] as const) {
    const lines = render('event.list', data, { ...PAGE, width })
      .trimEnd()
      .split('\n');
    assert.equal(lines[0]?.split(/ {2,}/).length, columns, `${width} columns`);
    for (const line of lines) assert.ok(line.length <= width, `${line.length} of ${width}: ${line}`);
  }
  assert.match(render('event.list', data, PAGE), /alertmanager .* firing/);
});

test('on a narrow terminal long cells are cut at their end, ids never', () => {
  const id = 'job_01m7yd4zyke00anp2z332d2j5p';
  const rows = table([{ id, what: `begin${'x'.repeat(100)}end` }], 'none', [
    { title: 'ID', cell: (row) => row.id },
    { title: 'WHAT', cell: (row) => row.what, mayCut: true },
  ]);
  const row = terminalText(rows, { ...PAGE, width: 60 }).split('\n')[1] ?? '';
  assert.equal(row.length, 60);
  assert.match(row, new RegExp(`^${id}  begin.*…$`));
});

test('on a narrow terminal no row is wrapped: names are cut before the last columns are left out', () => {
  const id = 'job_01m7yd4zyke00anp2z332d2j5p';
  const name = 'payments-production-eu-west-1-database-primary-of-the-second-site';
  const rows = table([{ id, name, when: '21m ago', why: 'no reason' }], 'none', [
    { title: 'NAME', cell: (row) => row.name },
    { title: 'ID', cell: (row) => row.id },
    { title: 'REASON', cell: (row) => row.why, mayCut: true },
    { title: 'WHEN', cell: (row) => row.when },
  ]);
  for (const [width, titles] of [
    [140, ['NAME', 'ID', 'REASON', 'WHEN']],
    [86, ['NAME', 'ID', 'REASON', 'WHEN']],
    [80, ['NAME', 'ID', 'REASON']],
    [66, ['NAME', 'ID']],
    [40, ['NAME']],
  ] as const) {
    const lines = terminalText(rows, { ...PAGE, width })
      .trimEnd()
      .split('\n');
    assert.deepEqual(lines[0]?.split(/ {2,}/), titles, `${width} columns`);
    for (const line of lines) assert.ok(line.length <= width, `${line.length} of ${width}: ${line}`);
    assert.equal(lines[1]?.includes(id), titles.length > 1, 'an id is whole, or not there');
  }
});

test('sentences are wrapped between words, below where they begin, and a long word stays whole', () => {
  const long = 'x'.repeat(70);
  const rows = table([{ name: 'sandbox', detail: `one two three four five six seven eight ${long} nine` }], 'none', [
    { title: 'CHECK', cell: (row) => row.name },
    { title: 'DETAIL', cell: (row) => row.detail, mayWrap: true },
  ]);
  const expected = ['one two three four five six', 'seven eight', long, 'nine'].map((line, at) =>
    at === 0 ? `sandbox  ${line}` : `         ${line}`,
  );
  const shown = terminalText(rows, { ...PAGE, width: 40 })
    .trimEnd()
    .split('\n');
  assert.deepEqual(shown.slice(1), expected);
  const values = sheet([['sandbox', rows.rows[0]?.[1]?.text ?? '']]);
  assert.deepEqual(
    terminalText(values, { ...PAGE, width: 40 })
      .trimEnd()
      .split('\n'),
    expected,
  );
});
