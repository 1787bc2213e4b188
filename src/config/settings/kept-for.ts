import { requireDuration } from '../../domain/duration.ts';
import type { Setting } from './setting-values.ts';

/** A quarter: most questions about the past are about less. */
const KEPT_DEFAULT = '90d';
/** Answers to idempotency keys may name rows for 7 days. */
const KEPT_MIN_MS = 7 * 86_400_000;
/** Ten years. */
const KEPT_MAX_MS = 3_650 * 86_400_000;

/** How long rows are kept, in milliseconds; 0 for ever. */
export function keptFor(flag: string, what: string): Setting<number> {
  return {
    flag,
    placeholder: 'DURATION',
    only: ['serve'],
    help: `Delete ${what} after this time; at least 7d, default ${KEPT_DEFAULT}; 0 keeps all`,
    read: (text) => (text === '0' ? 0 : requireDuration(`--${flag}`, text ?? KEPT_DEFAULT, KEPT_MIN_MS, KEPT_MAX_MS)),
  };
}
