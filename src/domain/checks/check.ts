/** Words of checks: their kinds, what each kind takes besides its targets, and what a probe says. */

export const CHECK_KINDS = ['tcp', 'tls', 'ping', 'http', 'dns', 'metric'] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

export const METRIC_OPS = ['<', '<=', '>', '>=', '==', '!='] as const;
export type MetricOp = (typeof METRIC_OPS)[number];

export const HTTP_METHODS = ['GET', 'HEAD'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** The own fields of each kind, read and checked. */
export interface CheckOptions {
  readonly tcp: Record<string, never>;
  /** A certificate that ends in fewer days than this is down. */
  readonly tls: { readonly minDays: number };
  readonly ping: Record<string, never>;
  /** `expect` is a status; 0 accepts 2xx and 3xx. */
  readonly http: { readonly expect: number; readonly method: HttpMethod; readonly expectBody: string | null };
  readonly dns: { readonly expectAddr: string | null };
  /** The value read from the answer is up where `value read` `op` `value` holds. */
  readonly metric: { readonly op: MetricOp; readonly value: number; readonly pointer: string | null };
}

/** The worst that was observed of a target in half an hour; `missed` where nothing could be concluded. */
export const HALF_HOURS = ['up', 'down', 'missed', 'none'] as const;
export type HalfHour = (typeof HALF_HOURS)[number];

/** What a probe says of its target, beside up or down: one of these words, never a text of the target. */
export const PROBE_DETAILS = [
  'ok',
  'refused',
  'timeout',
  'unreachable',
  'dns_failed',
  'no_such_name',
  'tls_failed',
  'certificate_expired',
  'certificate_expires_soon',
  'certificate_untrusted',
  'not_http',
  'status_unexpected',
  'body_unexpected',
  'value_unexpected',
  'value_unreadable',
  'too_large',
  'forbidden_address',
  'canary_down',
] as const;
export type ProbeDetail = (typeof PROBE_DETAILS)[number];

/** `unknown` until the first probe of the sweep. */
export const TARGET_STATUSES = ['unknown', 'up', 'down'] as const;
export type TargetStatus = (typeof TARGET_STATUSES)[number];
