import { formatDuration } from '../duration.ts';
import type { Step } from './workflow.ts';

/** The steps as a file has them, which reads them as the same ones. Fields with their default are left out. */
export function stepFields<A>(
  steps: readonly Step<A>[],
  write: (action: A) => Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>>[] {
  return steps.map(({ name, needs, when, approval, approvalTtlMs, action }, index) => {
    const before = steps[index - 1]?.name;
    const isDefault = before === undefined ? needs.length === 0 : needs.length === 1 && needs[0] === before;
    return {
      name,
      ...(isDefault ? {} : { needs: [...needs] }),
      ...(when === null ? {} : { when }),
      ...(approval === 'none' ? {} : { approval }),
      ...(approvalTtlMs === null ? {} : { approval_ttl: formatDuration(approvalTtlMs) }),
      ...write(action),
    };
  });
}
