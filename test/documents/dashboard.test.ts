/** The dashboard and the page of metrics name metrics that exist, and the page names all of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { metricsText } from '../../src/faces/api/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ROOT } from './blocks.ts';

const FOLDER = join(ROOT, 'docs', 'how-to', 'deploy');
const NAME = /\b(?:gatehouse|process)_[a-z_]+[a-z]\b/g;

test('The dashboard and the page of metrics name what is exported', async () => {
  const text = await metricsText({
    services: {
      server: { version: '1', hostname: null, startedAt: 0, timeZone: 'UTC' },
      clock: systemClock,
      openJobs: () => Promise.resolve({ counts: [], oldestQueuedAt: null }),
      checkSamples: () => [],
    },
    sender: { counts: [0, 0, 0, 0, 0], cut: 0 },
    listener: { load: { waiting: 0, refused: 0 } },
    streams: { open: 0 },
    authenticator: { load: () => ({ kdfRuns: 0, kdfRunning: 0, kdfWaiting: 0, verified: 0 }) },
  });
  const exported = [...text.matchAll(/^# TYPE (\S+)/gm)].map((found) => String(found[1])).toSorted();
  const dashboard = readFileSync(join(FOLDER, 'grafana-dashboard.json'), 'utf8');
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(NAME) ?? []));
  assert.ok(shown.length >= panels.length);
  assert.deepEqual(
    shown.filter((name) => !exported.includes(name)),
    [],
  );
  const page = readFileSync(join(FOLDER, 'scrape-metrics.md'), 'utf8');
  const named = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => line.match(NAME) ?? []);
  assert.deepEqual(named.toSorted(), exported);
});
