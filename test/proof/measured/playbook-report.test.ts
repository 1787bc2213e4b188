import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReportLine } from '../../../src/domain/playbooks/report.ts';
import { ResultsCollector } from '../../../src/domain/playbooks/results.ts';
import { heldMib } from '../../support/measure/held-memory.ts';

const HOSTS = 1_000;
const COUNTS = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };

/** As a program of the run that writes to the pipe of the report: the names and messages have 96 MiB in memory. */
function* longReport(): Generator<object> {
  const fill = '\u4e16'.repeat(15_990);
  yield { event: 'play', name: 'all' };
  yield { event: 'task', task: 0, name: 't' };
  for (let host = 0; host < HOSTS; host += 1) {
    const name = `${host}${fill}`;
    yield { event: 'host', host, name };
    yield { event: 'result', host, task: 0, status: 'failed', message: fill };
    yield { event: 'total', host: name, ...COUNTS };
  }
}

test('T97: of the long names and messages of a report, no more is held than what is kept', () => {
  const collector = new ResultsCollector((text) => text);
  const before = heldMib();
  for (const event of longReport()) collector.add(readReportLine(JSON.stringify(event)) ?? assert.fail());
  assert.ok(heldMib() - before < 8, `holds ${heldMib() - before} MiB`);
  assert.equal(collector.results().hosts.length, HOSTS);
});
