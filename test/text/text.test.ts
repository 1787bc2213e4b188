import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { JOB_STATES } from '../../src/domain/jobs/job.ts';
import type { Display } from '../../src/faces/text/display.ts';
import { terminalText } from '../../src/faces/cli/terminal-text.ts';
import { widthOf } from '../../src/faces/text/wrap.ts';
import { table } from '../../src/faces/text/blocks.ts';
import { render, secretOf } from '../../src/faces/cli/render.ts';
import { block, inline, line } from '../../src/faces/text/safe.ts';
import { absolute, relative, took } from '../../src/faces/text/time.ts';
import { type ViewName, VIEWS } from '../../src/views/views.ts';
import { hostile } from '../support/attacks/hostile-views.ts';

const AT = '2026-11-21T12:00:00.000Z';
const PAGE: Display = { nowMs: Date.parse(AT), color: false, width: null };

/** What a terminal must never be sent from data: controls but line end and tab, bidi, zero width, tags. */
const FORBIDDEN_CHARACTERS = [
  String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c`,
  String.raw`\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb`,
  String.raw`\u{e0000}-\u{e007f}`,
];
const FORBIDDEN = new RegExp(`[${FORBIDDEN_CHARACTERS.join('')}]`, 'u');

const ATTACKS = [
  '\u001b[2J\u001b]0;owned\u0007',
  '\u001b]8;;http://evil\u001b\\click\u001b]8;;\u001b\\',
  '\u009b31m',
  '\r\u001b[1Aall is well',
  '\u0000',
  '\u007f',
  '\b\b\b\b',
  '\u202edcba',
  '\u2066x\u2069',
  'a\u200bb\u200c\u200d',
  '\ufeff',
  '\u2028\u2029',
  '\u{e0041}\u{e007f}',
  '\u00ad',
  '\ud800',
  'a\tb\nc',
  '\u3164',
  '\u061c',
];
const PLAIN = ['ok', 'ä', '漢字', '😀', ' ', 'x'.repeat(300), '-', '"', '\\u001b'];

/** 200 texts put together from the parts above, the same in each run. */
function payloads(): string[] {
  const parts = [...ATTACKS, ...PLAIN];
  let state = 1;
  const next = (): string => {
    state = (state * 48_271) % 0x7fffffff;
    return parts[state % parts.length] ?? '';
  };
  return [...parts, ...Array.from({ length: 200 - parts.length }, () => next() + next() + next())];
}

test('T44: text output of any view has no control or invisible characters', () => {
  for (const text of payloads()) {
    const data = hostile(text);
    for (const kind of Object.keys(VIEWS) as ViewName[]) {
      for (const key of [kind, 'a kind without a rendering']) {
        const shown = render(key, data[kind], PAGE) + (secretOf(key, data[kind]) ?? '');
        assert.ok(
          !FORBIDDEN.test(shown),
          `${kind} as ${key} shows ${JSON.stringify(text)} as ${JSON.stringify(shown)}`,
        );
        assert.ok(shown.endsWith('\n') && shown.isWellFormed());
      }
    }
  }
});

test('T44: lines of output and messages contain no control sequence of a terminal', () => {
  for (const text of payloads()) {
    assert.ok(!FORBIDDEN.test(line(text)) && !FORBIDDEN.test(block(text)), JSON.stringify(text));
    assert.doesNotMatch(inline(text), /[\n\t]/);
  }
  assert.equal(inline('\u001b[31m\u202e\n\u{e0041}'), String.raw`\u001b[31m\u202e\n\u{e0041}`);
  assert.equal(block('a\n\tb'), 'a\n\tb');
});

test('without a terminal no cell is cut, and rows are aligned under their header', () => {
  const long = 'playbook:'.padEnd(200, 'x');
  const rows = table(
    [
      { id: 'job_1', what: long },
      { id: 'job_22', what: '漢字 ok' },
    ],
    'none',
    [
      { title: 'ID', cell: (row) => row.id },
      { title: 'WHAT', cell: (row) => row.what, mayCut: true },
      { title: 'END', cell: () => 'e' },
    ],
  );
  const lines = terminalText(rows, PAGE).trimEnd().split('\n');
  assert.ok(lines[1]?.includes(long));
  const ends = lines.map((each, at) => widthOf(each) - (at === 0 ? 3 : 1));
  assert.deepEqual(ends, [ends[0], ends[0], ends[0]]);
});

test('a name of a field is one line too, because labels have any name', () => {
  const data = {
    id: 'e',
    source: 's',
    outcome: 'ignored',
    reason: 'r',
    severity: null,
    fingerprint: 'f',
    labels: { 'a\tb\nc': '1', 漢字: '2' },
    rule: null,
    job_id: null,
    approval_id: null,
    received_at: AT,
  };
  assert.match(render('event.get', data, PAGE), /\nLabels:\n {2}a\\tb\\nc {2}1\n {2}漢字 {5}2\n$/);
});

test('point 37: colour is used only when requested, and the words are the same with it', () => {
  const data = {
    ...(hostile('x')['job.get'] as object),
    state: 'failed',
    created_at: AT,
    started_at: AT,
    finished_at: null,
  };
  const plain = render('job.list', [data], PAGE);
  const coloured = render('job.list', [data], { ...PAGE, color: true });
  assert.notEqual(coloured, plain);
  assert.equal(stripVTControlCharacters(coloured), plain);
});

test('the annotations of an event come before its steps: one line each, a long one cut', () => {
  const data = {
    event_id: 'evt_1',
    outcome: 'ignored',
    reason: '',
    steps: [],
    annotations: { summary: 'a\nb', runbook: 'x'.repeat(400) },
  };
  assert.equal(
    render('event.trace', data, PAGE),
    `Annotations:\n  summary  a\\nb\n  runbook  ${'x'.repeat(300)}…\n\nNo rule was evaluated.\n`,
  );
  assert.equal(render('event.trace', { ...data, annotations: {} }, PAGE), 'No rule was evaluated.\n');
});

test('below a rule stand its terms, each with what it read where the step does not say it', () => {
  const terms = [
    { term: 'event.name == "a"', result: 'true', why: null },
    { term: 'event.severity == "page"', result: 'false', why: 'event.severity is "x"' },
    { term: 'event.labels.m == ""', result: 'error', why: 'the event has no "m"' },
  ];
  const steps = [
    { step: 'rule', rule: 'r', result: 'error', why: 'It could not be evaluated: the event has no "m".', terms },
  ];
  const lines = render(
    'event.trace',
    { event_id: 'e', outcome: 'error', reason: '', steps, annotations: {} },
    PAGE,
  ).split('\n');
  assert.deepEqual(lines, [
    'error        rule r: It could not be evaluated: the event has no "m".',
    '               true   event.name == "a"',
    '               false  event.severity == "page"',
    '                        event.severity is "x"',
    '               error  event.labels.m == ""',
    '',
  ]);
});

test('of many rules that did not match the terms of the first 20 are shown, and of each that failed', () => {
  const terms = [{ term: 'a', result: 'false', why: null }];
  const stopped = Array.from({ length: 30 }, (_, at) => ({
    step: 'rule',
    rule: `r${at}`,
    result: 'stopped',
    why: 'It did not match.',
    terms,
  }));
  const failed = {
    step: 'rule',
    rule: 'z',
    result: 'error',
    why: 'It could not be evaluated.',
    terms: [{ term: 'b', result: 'error', why: null }],
  };
  const text = render(
    'event.trace',
    { event_id: 'e', outcome: 'error', reason: '', steps: [...stopped, failed], annotations: {} },
    PAGE,
  );
  assert.equal(text.split(' false  a').length - 1, 20);
  assert.match(text, /rule z: .*\n {15}error {2}b\n$/);
});

test('a new webhook shows its URL alone, and below it the secret if there is one', () => {
  const data = { name: 'alerts', source: 'generic', signed: false, url: 'http://h/hook/x', signing_secret: null };
  assert.equal(secretOf('webhook.created', data), 'http://h/hook/x\n');
  assert.equal(secretOf('webhook.created', { ...data, signed: true, signing_secret: 's3' }), 'http://h/hook/x\ns3\n');
  for (const signed of [false, true])
    assert.doesNotMatch(render('webhook.created', { ...data, signed, signing_secret: 's3' }, PAGE), /http|s3/);
  assert.equal(secretOf('webhook.list', []), null);
});

test('an empty list says so', () => {
  for (const key of [
    'job.list',
    'token.list',
    'job.events',
    'job.redrive',
    'doctor',
    'rule.list',
    'workspace.list',
    'workspace.state',
    'source.list',
    'approval.list',
    'secret.list',
    'mute.list',
    'webhook.list',
  ])
    assert.match(render(key, [], PAGE), /^\S.+\.?\n$/);
});

test('every state of a job is shown by its name', () => {
  const data = JOB_STATES.map((state) => ({ ...(hostile('x')['job.get'] as object), state }));
  const text = render('job.list', data, PAGE);
  for (const state of JOB_STATES) assert.match(text, new RegExp(`^${state} `, 'm'));
});

test('times are relative to now, and dates if far away', () => {
  const at = (seconds: number): string => new Date(PAGE.nowMs - seconds * 1000).toISOString();
  const texts = [0, 30, 90, 7_200, 86_400, 3 * 86_400, -600].map((seconds) => relative(at(seconds), PAGE.nowMs));
  assert.deepEqual(texts, ['now', '30s ago', '1m ago', '2h ago', '1d ago', '3d ago', 'in 10m']);
  assert.equal(relative(at(40 * 86_400), PAGE.nowMs), '2026-10-12');
  assert.equal(relative(null, PAGE.nowMs), '-');
  assert.equal(absolute(at(90), PAGE.nowMs), '2026-11-21T11:58:30.000Z (1m ago)');
  assert.deepEqual(
    [took(at(41), AT, 0), took(at(72), null, PAGE.nowMs), took(at(7_500), AT, 0), took(null, null, 0)],
    ['41s', '1m12s', '2h5m', '-'],
  );
});

test('a run of ignored job ends is one row of the list of events, and the alerts between are rows', () => {
  const row = {
    id: 'evt_1',
    source: 'job-outcome',
    name: 'command:df',
    outcome: 'ignored',
    reason: 'No rule matched.',
  };
  const end = { ...row, status: 'resolved', received_at: AT, labels: {} };
  const alert = { ...end, id: 'evt_2', source: 'generic', name: 'DiskFull', status: 'firing' };
  const silence = { ...alert, id: 'evt_3', source: 'silence', name: 'disk' };
  const [, ...lines] = render('event.list', [end, end, end, alert, end, silence], PAGE).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((each) => each.split(/ {2,}/)[3]),
    ['command:df and 2 more job ends', 'DiskFull', 'command:df', 'the silence of disk ended'],
  );
});
