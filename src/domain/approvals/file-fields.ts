import { durationIn } from '../yaml/value-fields.ts';
import { refused } from '../yaml/fields.ts';
import type { YamlMap } from '../yaml/file.ts';
import { APPROVAL_CHOICES, APPROVAL_TTL_MAX_MS, type ApprovalChoice } from './approval.ts';

/** Whether what the file describes waits for an approval, and for how long; null: as long as others. */
interface ApprovalFields {
  readonly approval: ApprovalChoice;
  readonly approvalTtlMs: number | null;
}

/** The fields `approval` and `approval_ttl`. Throws invalid_argument. */
export function approvalIn(map: YamlMap, prefix = ''): ApprovalFields {
  const value = map.fields.get('approval');
  const text = value?.kind === 'text' ? value.text : '';
  const approval = value === undefined ? 'none' : APPROVAL_CHOICES.find((each) => each === text);
  if (value !== undefined && approval === undefined)
    throw refused(`${prefix}approval`, value, `expected ${APPROVAL_CHOICES.join(' or ')}`);
  const approvalTtlMs = durationIn(map, 'approval_ttl', APPROVAL_TTL_MAX_MS, prefix);
  const ttl = map.fields.get('approval_ttl');
  if (ttl !== undefined && approval !== 'required')
    throw refused(`${prefix}approval_ttl`, ttl, 'expected only with approval: required');
  return { approval: approval ?? 'none', approvalTtlMs };
}
