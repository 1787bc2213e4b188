/** What the child programs of the part `reaction` read and answer, and the rules and alerts that they all use. */
import { createHash } from 'node:crypto';
import { FRESH } from '../kit/fresh.ts';

/** The one rule that matches an alert of this name; alerts of any other name match none. */
export const FIRING_ALERT = 'Fires';
const QUIET_ALERT = 'DiskFull';

export interface BenchRule {
  readonly name: string;
  readonly when: string;
}

/**
 * How rules ask for the name of an alert: by an equality, by a pattern for its beginning or for any part of it, or by
 * an expression that only the CEL library can answer.
 */
export type RuleForm = 'equal' | 'begins' | 'contains' | 'library';

const ASKED_BEFORE = 'event.source == "alertmanager" && event.status == "firing"';
const ASKS: Readonly<Record<RuleForm, (alert: string) => string>> = {
  equal: (alert) => `== "${alert}"`,
  begins: (alert) => `.matches("^${alert}( |$)")`,
  contains: (alert) => `.matches("${alert}( |$)")`,
  library: (alert) => ` + "." == "${alert}."`,
};

/**
 * The rules number `from` to `to` for Alertmanager's events. Only number 0 ever matches, and only the alert
 * FIRING_ALERT.
 */
export function benchRules(from: number, to: number, form: RuleForm): BenchRule[] {
  return Array.from({ length: to - from }, (_, i) => {
    const at = from + i;
    const alert = at === 0 ? FIRING_ALERT : `Other${at}`;
    return {
      name: `${form}-${String(at).padStart(2, '0')}`,
      when: `${ASKED_BEFORE} && event.labels.alertname${ASKS[form](alert)}`,
    };
  });
}

/**
 * The body that Alertmanager sends for a group of `alerts` alerts. `seed` tells them from those of other messages; with
 * FRESH the sender does, who gives each alert another instance too.
 */
export function alertMessage(seed: string, alerts: number, alertname: string = QUIET_ALERT): string {
  const shared = { alertname, job: 'node', severity: 'warning' };
  return JSON.stringify({
    version: '4',
    groupKey: `{}:{alertname="${alertname}"}`,
    status: 'firing',
    receiver: 'gatehouse',
    groupLabels: { alertname },
    commonLabels: shared,
    commonAnnotations: {},
    externalURL: 'http://alertmanager:9093',
    truncatedAlerts: 0,
    alerts: Array.from({ length: alerts }, (_, i) => ({
      status: 'firing',
      labels: { ...shared, instance: seed === FRESH ? `${FRESH}:9100` : `web${i}:9100`, device: '/dev/sda1' },
      annotations: { summary: 'The disk is nearly full.' },
      startsAt: '2026-11-21T10:00:00.000Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus:9090/graph?g0.expr=up',
      fingerprint: seed === FRESH ? FRESH : createHash('sha256').update(`${seed} ${i}`).digest('hex').slice(0, 16),
    })),
  });
}

export type ReactionOrder =
  | { readonly do: 'start'; readonly dataDir: string }
  | { readonly do: 'rules'; readonly from: number; readonly to: number; readonly form: RuleForm }
  | { readonly do: 'idle'; readonly count: number }
  | { readonly do: 'stop' };

export interface ReactionStarted {
  readonly webUrl: string;
  readonly hookUrl: string;
  /** Of a token with the scope operator. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SendOrder {
  readonly do: 'send';
  readonly url: string;
  readonly senders: number;
  /** Alerts in each message. */
  readonly alerts: number;
  readonly durationMs: number;
  /** Messages of this first time, in milliseconds, are sent and not timed. */
  readonly warmUpMs: number;
  /** How long a sender waits after a 503. */
  readonly retryMs: number;
}

export interface ReadOrder {
  readonly do: 'read';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Sent {
  /** Events of all messages that were answered with 202, of the warm-up too. */
  readonly accepted: number;
  /** Messages whose connection ended without an answer. */
  readonly broken: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly eventsPerSecond: number;
  readonly acceptedP99Ms: number;
  readonly refusedP50Ms: number;
  readonly refusedP99Ms: number;
}

export interface Read {
  readonly rows: number;
  readonly bytes: number;
  readonly ms: number;
}

export interface EvaluateOrder {
  readonly dir: string;
  readonly rules: number;
  readonly form: RuleForm;
  readonly durationMs: number;
}

export interface Evaluated {
  /** Of the first second after the rules were compiled. */
  readonly firstPerSecond: number;
  readonly perSecond: number;
}

export interface FillOrder {
  /** The age of the newest event, in milliseconds; the store is as old. */
  readonly ageMs?: number;
  readonly file: string;
  readonly count: number;
}
