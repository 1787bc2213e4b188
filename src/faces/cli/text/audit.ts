import type { Projected } from '../../../operations/views.ts';
import { inline } from './safe.ts';

/** One line for each chain, whole and without a title, so that a file of them can be compared later. */
export function auditHead(heads: Projected<'audit.head'>): string {
  return heads.map(({ chain, seq, hash }) => `${inline(chain)} ${seq} ${inline(hash)}\n`).join('');
}
