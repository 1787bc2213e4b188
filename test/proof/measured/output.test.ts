/** What a run may make the daemon hold in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CUT_MARK } from '../../../src/domain/commands/hosts.ts';
import { readReportLine } from '../../../src/domain/playbooks/report.ts';
import { ResultsCollector } from '../../../src/domain/playbooks/results.ts';
import { HostOutput } from '../../../src/runners/command/host-output.ts';
import { heldMib } from '../../support/measure/held-memory.ts';

const COUNTS = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };

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

test('T97: long names and messages of a report are shortened when they arrive, and no more of them is held', () => {
  let redacted = 0;
  const collector = new ResultsCollector((text) => {
    redacted += text.length;
    return text;
  });
  const before = heldMib();
  for (const line of longTexts(1_000)) collector.add(readReportLine(line) ?? assert.fail());
  // The texts of the lines have 96 MiB.
  assert.ok(heldMib() - before < 8, `holds ${heldMib() - before} MiB`);
  const atArrival = redacted;
  const { hosts } = collector.results();
  assert.equal(redacted, atArrival, 'the end has nothing left to redact');
  assert.equal(hosts.length, 1_000);
  for (const [at, { host, cells, failure }] of hosts.entries()) {
    assert.equal(host, `${String(at).padStart(5, '0')}${'\u4e16'.repeat(294)}…`);
    assert.deepEqual([cells, failure?.message], ['f', `${'\u4e16'.repeat(499)}…`]);
  }
});

test('T97: output that comes byte by byte takes no more memory than its bytes, and is cut at the limit', () => {
  const bytesMax = 1024 * 1024;
  const output = new HostOutput('web1', bytesMax);
  const before = heldMib();
  for (let at = 0; at <= bytesMax; at += 1) output.sifts.stdout.push(Buffer.from([at % 128]));
  assert.ok(heldMib() - before < 4, `holds ${heldMib() - before} MiB`);
  const text = output.stdout;
  assert.equal(text.slice(1, 128), Buffer.from(Array.from({ length: 127 }, (_, at) => at + 1)).toString());
  assert.equal(text.slice(bytesMax), `\n${CUT_MARK}`);
});
