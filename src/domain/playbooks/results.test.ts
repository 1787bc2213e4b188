import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runBare, writeTree } from '../../../test/support/ansible/bare-run.ts';
import { needs } from '../../../test/support/tools.ts';
import { readReportLine, type ReportEvent } from './report.ts';
import { HOSTS_MAX, ResultsCollector, TASKS_MAX } from './results.ts';

const PLUGIN = join(import.meta.dirname, '..', '..', 'runners', 'ansible', 'gatehouse_report.py');
const COUNTS = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };

const PLAYBOOK = `
- name: Web servers
  hosts: all
  gather_facts: false
  vars: { token: canary-of-a-variable }
  tasks:
    - name: changes
      command: echo canary-of-an-argument
    - name: reads
      debug: msg={{ token }}
    - name: skips
      debug: msg=never
      when: false
    - name: ignored
      fail: msg="first {{ 'x' * 9000 }}"
      ignore_errors: true
    - block:
        - name: rescued
          fail: { msg: "two\\nlines" }
      rescue:
        - name: rescues
          debug: msg=done
    - name: hidden
      fail: { msg: canary-of-a-hidden-task }
      no_log: true
    - name: never reached by a
      debug: msg=never
`;

test(
  'The report of the real tool has each task on each host, and no argument, variable or output',
  { skip: needs('ansible-playbook', 'ssh') },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-report-'));
    try {
      const hosts = 'a ansible_connection=local\ndown ansible_host=127.0.0.1 ansible_port=9\n';
      writeTree(dir, { 'site.yml': PLAYBOOK, hosts });
      const { report, output } = await runBare(dir, ['-i', 'hosts', 'site.yml']);
      assert.match(output, /canary-of-a-variable/, 'what the tool prints does show it');
      assert.ok(!report.some((line) => line.includes('canary')), report.join('\n'));
      const collector = new ResultsCollector((text) => text);
      const progress = report.map((line) => collector.add(readReportLine(line) ?? assert.fail(line)));
      const { hosts: found, tasks, hostsCut, tasksCut } = collector.results();
      assert.deepEqual(
        found.map(({ host, cells }) => [host, cells]),
        [
          ['a', 'cosirof'],
          ['down', 'u'],
        ],
      );
      assert.deepEqual([found[0]?.failure, hostsCut, tasksCut], [{ task: 6, message: '' }, 0, 0]);
      assert.deepEqual(found[1]?.failure?.task, 0);
      assert.match(found[1]?.failure?.message ?? '', /^Failed to connect to the host via ssh: .*Connection refused$/);
      assert.deepEqual([found[0]?.ok, found[0]?.rescued, found[0]?.ignored, found[0]?.failures], [4, 1, 1, 1]);
      assert.deepEqual(
        tasks.map(({ task }) => task),
        ['changes', 'reads', 'skips', 'ignored', 'rescued', 'rescues', 'hidden'],
      );
      assert.deepEqual(progress.filter((each) => each !== null).slice(0, 2), [
        { play: 'Web servers', task: '' },
        { play: 'Web servers', task: 'changes' },
      ]);
      const messages = report
        .map(readReportLine)
        .flatMap((event) => (event?.event === 'result' ? [event.message] : []));
      assert.ok(messages.includes('two\nlines'), messages.join('\n'));
      assert.ok(messages.includes('(9006 characters)'), 'a long message is left out as a whole');
    } finally {
      rmSync(dir, { recursive: true });
    }
  },
);

test('A line that is not an event is not taken for one', () => {
  const lines = [
    '',
    'null',
    '[]',
    '"task"',
    '{"event":"toString"}',
    '{"event":"__proto__"}',
    '{"event":"task","task":-1,"name":"x"}',
    '{"event":"task","task":1.5,"name":"x"}',
    '{"event":"task","task":1}',
    '{"event":"result","host":0,"task":0,"status":"fine"}',
    '{"event":"result","host":"0","task":0,"status":"ok"}',
    '{"event":"result","host":0,"task":0,"status":"ok","message":7}',
    '{"event":"total","host":"a","ok":1}',
    '{"event":"end","plays_left":0}',
  ];
  for (const line of lines) assert.equal(readReportLine(line), null, line);
});

/** The name of a play as it is kept. */
function name(text: string): string {
  const event = readReportLine(JSON.stringify({ event: 'play', name: text })) ?? assert.fail();
  return collect([]).add(event)?.play ?? assert.fail();
}

test('Texts of a report are one line of a limited length, and half a surrogate pair is replaced', () => {
  assert.equal(name('x'.repeat(1_000)), `${'x'.repeat(299)}…`);
  assert.equal(name('a\ud800\n b\u202e'), 'a\ufffd b');
  assert.equal(readReportLine(JSON.stringify({ event: 'play', name: 'x'.repeat(20_000) })), null);
});

function collect(events: Iterable<ReportEvent>): ResultsCollector {
  const collector = new ResultsCollector((text) => text.replaceAll('hunter2', '[redacted]'));
  for (const event of events) collector.add(event);
  return collector;
}

function* tooMany(): Generator<ReportEvent> {
  yield { event: 'play', name: 'all' };
  for (let task = 0; task < TASKS_MAX + 7; task += 1) yield { event: 'task', task, name: `t${task}` };
  for (let host = 0; host < HOSTS_MAX + 3; host += 1) {
    yield { event: 'host', host, name: `h${host}` };
    for (const task of [0, TASKS_MAX - 1, TASKS_MAX])
      yield { event: 'result', host, task, status: 'ok', message: null };
  }
  for (let host = 0; host < HOSTS_MAX + 3; host += 1) yield { event: 'total', host: `h${host}`, counts: COUNTS };
  yield { event: 'end', plays_left: 0, hosts_left: 0 };
}

test('More hosts and tasks than are stored are counted, and take part in the recap', () => {
  const { hosts, tasks, hostsCut, tasksCut, recap } = collect(tooMany()).results();
  assert.deepEqual([hosts.length, tasks.length, hostsCut, tasksCut], [HOSTS_MAX, TASKS_MAX, 3, 7]);
  assert.deepEqual([recap.hosts, recap.good], [HOSTS_MAX + 3, HOSTS_MAX + 3]);
  assert.equal(hosts.at(-1)?.cells, `o${'.'.repeat(TASKS_MAX - 2)}o`);
});

test('A result of a host or task that was not announced changes nothing', () => {
  const { hosts, tasks } = collect([
    { event: 'play', name: 'all' },
    { event: 'task', task: 0, name: 'first' },
    { event: 'task', task: 5, name: 'out of order' },
    { event: 'host', host: 0, name: 'a' },
    { event: 'result', host: 0, task: 4, status: 'failed', message: 'no such task' },
    { event: 'result', host: 9, task: 0, status: 'failed', message: 'no such host' },
    { event: 'total', host: 'a', counts: COUNTS },
  ]).results();
  assert.deepEqual([tasks.length, hosts[0]?.cells, hosts[0]?.failure], [1, '', null]);
});

test('T55: a secret in the name of a play, task or host, or in a message, is replaced before the text is cut', () => {
  const collector = collect([]);
  assert.deepEqual(collector.add({ event: 'play', name: 'P hunter2' }), { play: 'P [redacted]', task: '' });
  assert.deepEqual(collector.add({ event: 'task', task: 0, name: 'T hunter2' }), {
    play: 'P [redacted]',
    task: 'T [redacted]',
  });
  collector.add({ event: 'host', host: 0, name: 'hunter2.example' });
  collector.add({ event: 'result', host: 0, task: 0, status: 'failed', message: `${'.'.repeat(495)} hunter2` });
  collector.add({ event: 'total', host: 'hunter2.example', counts: COUNTS });
  const results = JSON.stringify(collector.results());
  assert.ok(!results.includes('hunter2'), results);
  assert.match(results, /"message":"\.{495} \[re…"/);
});

/** As a program of the run that writes to the pipe of the report: no text is longer than a line may have. */
function* longTexts(hosts: number): Generator<string> {
  const fill = '\u4e16'.repeat(15_990);
  yield '{"event":"play","name":"all"}';
  yield '{"event":"task","task":0,"name":"t"}';
  for (let host = 0; host < hosts; host += 1) {
    const name = `${String(host).padStart(5, '0')}${fill}`;
    yield JSON.stringify({ event: 'host', host, name });
    yield JSON.stringify({ event: 'result', host, task: 0, status: 'failed', message: fill });
    yield JSON.stringify({ event: 'total', host: name, ...COUNTS });
  }
}

test('T97: long names and messages of a report are redacted and shortened when they arrive', () => {
  let redacted = 0;
  const collector = new ResultsCollector((text) => {
    redacted += text.length;
    return text;
  });
  for (const line of longTexts(100)) collector.add(readReportLine(line) ?? assert.fail());
  const atArrival = redacted;
  const { hosts } = collector.results();
  assert.equal(redacted, atArrival, 'the end has nothing left to redact');
  assert.equal(hosts.length, 100);
  for (const [at, { host, cells, failure }] of hosts.entries()) {
    assert.equal(host, `${String(at).padStart(5, '0')}${'\u4e16'.repeat(294)}…`);
    assert.deepEqual([cells, failure?.message], ['f', `${'\u4e16'.repeat(499)}…`]);
  }
});

/** What a run of 10,000 hosts reports, all of its texts long: its failures, and the recap before or after them. */
function collectLong(totals: 'first' | 'last'): ReturnType<ResultsCollector['results']> {
  const long = 'x'.repeat(600);
  const collector = collect([
    { event: 'play', name: long },
    { event: 'task', task: 0, name: long },
  ]);
  const hosts = Array.from({ length: HOSTS_MAX }, (_, host) => ({ host, name: `${host}${long}` }));
  const addTotals = (): void => {
    for (const { name: host } of hosts) collector.add({ event: 'total', host, counts: COUNTS });
  };
  for (const each of hosts) collector.add({ event: 'host', ...each });
  if (totals === 'first') addTotals();
  for (const { host } of hosts) collector.add({ event: 'result', host, task: 0, status: 'failed', message: long });
  if (totals === 'last') addTotals();
  for (let task = 1; task < TASKS_MAX; task += 1) collector.add({ event: 'task', task, name: long });
  const results = collector.results();
  const texts = [
    ...results.tasks.flatMap(({ play, task }) => [play, task]),
    ...results.hosts.flatMap(({ host, failure }) => [host, failure?.message ?? '']),
  ];
  const bytes = texts.reduce((sum, { length }) => sum + 2 * length, 0);
  assert.ok(bytes < 13 * 1024 * 1024, `keeps ${bytes} bytes`);
  return results;
}

test('T97: hosts and tasks whose texts are beyond the bytes of a run are counted', () => {
  const { hosts, hostsCut, tasks, tasksCut, recap } = collectLong('last');
  assert.deepEqual([recap.hosts, hosts.length + hostsCut, hostsCut > 0], [HOSTS_MAX, HOSTS_MAX, true]);
  assert.deepEqual([tasks.length + tasksCut, tasksCut > 0], [TASKS_MAX, true]);
});

test('T97: the place of a message that is beyond the bytes of a run says so', () => {
  const { hosts, hostsCut } = collectLong('first');
  assert.equal(hostsCut, 0);
  const [first, last] = [hosts[0], hosts.at(-1)].map((host) => host?.failure?.message);
  assert.match(first ?? '', /^x+…$/);
  assert.equal(last, '(left out: the messages of this run are too long)');
});

test('The plugin has the limits of the service', () => {
  const text = readFileSync(PLUGIN, 'utf8');
  for (const [name, value] of Object.entries({ HOSTS_MAX, TASKS_MAX }))
    assert.match(text, new RegExp(`^${name} = ${value}$`, 'm'));
});
