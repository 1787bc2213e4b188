import type { CheckSample } from '../../domain/checks/sweep/report.ts';
import { COUNTED_MAX } from '../../domain/jobs/open-jobs.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import type { Services } from '../../operations/core/services.ts';
import type { Sender } from '../http/sender.ts';
import type { Listener } from '../http/server.ts';
import type { Streams } from './stream.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface MetricSources {
  readonly services: Pick<Services, 'server' | 'clock' | 'checkSamples' | 'openJobs'>;
  readonly sender: Pick<Sender, 'counts' | 'cut'>;
  readonly listener: Pick<Listener, 'load'>;
  readonly streams: Pick<Streams, 'open'>;
  readonly authenticator: Pick<Authenticator, 'load'>;
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** Encoded labels, and the value. */
  readonly samples: readonly (readonly [string, number])[];
}

/** Prometheus text: numbers of this process, and of the store only what waits and runs. */
export async function metricsText(sources: MetricSources): Promise<string> {
  const { services, sender, listener, streams, authenticator } = sources;
  const { version, startedAt } = services.server;
  const { counts, oldestQueuedAt } = await services.openJobs();
  const load = authenticator.load();
  const metrics: Metric[] = [
    {
      name: 'gatehouse_build_info',
      type: 'gauge',
      help: 'Always 1; the label has the version.',
      samples: [[`{version="${escapeLabel(version)}"}`, 1]],
    },
    {
      name: 'gatehouse_uptime_seconds',
      type: 'gauge',
      help: 'Seconds since the process started.',
      samples: startedAt === null ? [] : [['', Math.max(0, services.clock.now() - startedAt) / 1_000]],
    },
    {
      name: 'gatehouse_http_responses_total',
      type: 'counter',
      help: 'Responses sent, by status class.',
      samples: sender.counts.map((count, i) => [`{class="${i + 1}xx"}`, count] as const),
    },
    {
      name: 'gatehouse_jobs',
      type: 'gauge',
      help: `Jobs of all daemons that have not ended, by state; ${COUNTED_MAX} stands for that many and more.`,
      samples: counts.map(({ state, count }) => [`{state="${state}"}`, count] as const),
    },
    number(
      'gatehouse_queue_oldest_seconds',
      'gauge',
      'Seconds since the oldest queued job was requested; 0 without one.',
      oldestQueuedAt === null ? 0 : Math.max(0, services.clock.now() - oldestQueuedAt) / 1_000,
    ),
    number('gatehouse_requests_waiting', 'gauge', 'Requests that wait for their turn.', listener.load.waiting),
    number(
      'gatehouse_requests_refused_total',
      'counter',
      'Requests refused because too many waited or were in progress.',
      listener.load.refused,
    ),
    number('gatehouse_answers_cut_total', 'counter', 'Answers cut off because too many bytes were unread.', sender.cut),
    number('gatehouse_streams_open', 'gauge', 'Open event streams.', streams.open),
    number('gatehouse_kdf_runs_total', 'counter', 'Token verifications with the slow hash.', load.kdfRuns),
    number('gatehouse_kdf_running', 'gauge', 'Token verifications in progress.', load.kdfRunning),
    number('gatehouse_kdf_waiting', 'gauge', 'Token verifications that are queued.', load.kdfWaiting),
    number('gatehouse_tokens_verified', 'gauge', 'Verified tokens in the cache.', load.verified),
    ...checkMetrics(services.checkSamples()),
    number('process_resident_memory_bytes', 'gauge', 'Resident memory.', process.memoryUsage.rss()),
  ];
  return metrics.map(format).join('');
}

/** Of the targets that this daemon probes. A target that was not probed yet has no sample. */
function checkMetrics(samples: readonly CheckSample[]): Metric[] {
  const labelled = samples.map((sample) => {
    const labels = `{check="${escapeLabel(sample.check)}",target="${escapeLabel(sample.target)}"}`;
    return [labels, sample] as const;
  });
  const gauge = (name: string, help: string, valueOf: (sample: CheckSample) => number | null): Metric => ({
    name,
    type: 'gauge',
    help,
    samples: labelled.flatMap(([labels, sample]) => {
      const value = valueOf(sample);
      return value === null ? [] : [[labels, value] as const];
    }),
  });
  return [
    gauge('gatehouse_check_up', '1 while the target of a check is up, 0 while it is down.', ({ status }) =>
      status === 'unknown' ? null : Number(status === 'up'),
    ),
    gauge('gatehouse_check_duration_seconds', 'Duration of the last probe of a target.', ({ durationMs }) =>
      durationMs === null ? null : durationMs / 1_000,
    ),
    gauge(
      'gatehouse_check_certificate_days',
      'Whole days until the certificate of a target ends.',
      ({ certificateDays }) => certificateDays,
    ),
  ];
}

function number(name: string, type: Metric['type'], help: string, value: number): Metric {
  return { name, type, help, samples: [['', value]] };
}

function format({ name, type, help, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
