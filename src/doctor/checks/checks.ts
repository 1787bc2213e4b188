import { shortDuration } from '../../domain/duration.ts';
import { showProbeRate } from '../../domain/checks/probe-rate.ts';
import type { SweepReport } from '../../domain/checks/sweep/report.ts';
import { fromJson } from '../../lib/json.ts';
import { totalProbeRate } from '../../store/checks/probe-rates.ts';
import { countSwept, sweepReports } from '../../store/checks/shards.ts';
import { countNeverUp, listNeverUp } from '../../store/checks/targets.ts';
import type { Db } from '../../store/schema/schema.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** A daemon reports each minute; one that missed two reports is gone. */
const REPORTS_MS = 180_000;
/** Targets that were never up, in the entry. */
const NAMED_MAX = 5;

/** Reports whether the targets of checks are probed, and in time, and whether they are too many. */
export function examineChecks({ openedStore, clock, settings }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const finding = withNeverUp(await examineSweep(db, clock.now()), await neverUp(db));
    const rate = await totalProbeRate(db);
    const limit = settings.checkProbesPerSecond;
    if (rate <= limit * 1_000) return finding;
    return warn(
      `${finding.detail} The enabled checks take ${showProbeRate(rate)} probes a second, and the limit is ${limit} ` +
        `(--check-probes-per-second): use longer intervals, or svc check disable NAME.`,
    );
  });
}

/** Rules get no event of a target that was down from its first probe on. */
async function neverUp(db: Db): Promise<string | null> {
  const count = await countNeverUp(db);
  if (count === 0) return null;
  const named = (await listNeverUp(db, NAMED_MAX)).map(({ check_name: check, name }) => `${name} of ${check}`);
  const more = count > named.length ? `, and ${count - named.length} more` : '';
  return `Never up: ${named.join(', ')}${more}. See why: svc check probe NAME.`;
}

function withNeverUp(finding: Finding, words: string | null): Finding {
  return words === null ? finding : warn(`${finding.detail} ${words}`);
}

async function examineSweep(db: Db, now: number): Promise<Finding> {
  const { checks, targets } = await countSwept(db);
  if (checks === 0) return ok('No check is enabled.');
  const rows = await sweepReports(db, now - REPORTS_MS);
  if (rows.length === 0)
    return warn(
      `Checks: ${checks}, targets: ${targets}; no daemon has probed them for three minutes. Start svc serve.`,
    );
  return judge(checks, sumOf(rows.map(({ report }) => (report === null ? {} : fromJson(report)))));
}

function judge(checks: number, report: SweepReport): Finding {
  const { targets, probes, late, longestLateMs, slow, missed } = report;
  const faults = [
    ...(late === 0
      ? []
      : [`${late} began late, up to ${shortDuration(longestLateMs)}: use longer intervals or another daemon`]),
    ...(slow === 0 ? [] : [`${slow} took longer than the interval of their check: use a longer interval`]),
    ...(missed === 0 ? [] : [`${missed} count for nothing, because the canary was unreachable too`]),
    ...(report.faults === 0 ? [] : [`${report.faults} could not be made: ${faultyChecks(report)}`]),
  ];
  const swept = `Checks: ${checks}, targets: ${targets}`;
  if (probes === 0) return ok(`${swept}; no probe in the last minute.`);
  const all = `${swept}; ${probes} probes in the last minute`;
  return faults.length === 0 ? ok(`${all}, all in time.`) : warn(`${all}, of which ${faults.join('; ')}.`);
}

function sumOf(reports: readonly Partial<SweepReport>[]): SweepReport {
  const sum = (field: Exclude<keyof SweepReport, 'faulty'>): number =>
    reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  return {
    targets: sum('targets'),
    probes: sum('probes'),
    late: sum('late'),
    longestLateMs: Math.max(...reports.map(({ longestLateMs }) => longestLateMs ?? 0)),
    slow: sum('slow'),
    missed: sum('missed'),
    faults: sum('faults'),
    faulty: reports.flatMap(({ faulty = [] }) => faulty),
  };
}

function faultyChecks({ faulty }: SweepReport): string {
  const byReason = Map.groupBy(faulty, ({ reason }) => reason.replace(/\.$/, ''));
  return [...byReason]
    .map(([reason, all]) => `checks ${[...new Set(all.map(({ check }) => check))].join(', ')} (${reason})`)
    .join('; ');
}
