import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { metricsText } from './metrics.ts';

test('Targets of checks are gauges whose labels are escaped; one that was not probed yet is left out', async () => {
  const text = await metricsText({
    services: {
      server: { version: '1', hostname: null, startedAt: null, timeZone: 'UTC' },
      clock: systemClock,
      openJobs: () => Promise.resolve({ counts: [], oldestQueuedAt: null }),
      checkSamples: () => [
        { check: 'web', target: 'a', status: 'up', durationMs: 12, certificateDays: 40 },
        { check: 'web', target: 'b"\\\n', status: 'down', durationMs: null, certificateDays: null },
        { check: 'web', target: 'c', status: 'unknown', durationMs: null, certificateDays: null },
      ],
    },
    sender: { counts: [0, 0, 0, 0, 0], cut: 0 },
    listener: { load: { waiting: 0, refused: 0 } },
    streams: { open: 0 },
    authenticator: { load: () => ({ kdfRuns: 0, kdfRunning: 0, kdfWaiting: 0, verified: 0 }) },
  });
  const samples = text.split('\n').filter((line) => line.startsWith('gatehouse_check'));
  assert.deepEqual(samples, [
    'gatehouse_check_up{check="web",target="a"} 1',
    'gatehouse_check_up{check="web",target="b\\"\\\\\\n"} 0',
    'gatehouse_check_duration_seconds{check="web",target="a"} 0.012',
    'gatehouse_check_certificate_days{check="web",target="a"} 40',
  ]);
});
