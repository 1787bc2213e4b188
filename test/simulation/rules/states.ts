import type { Keyring } from '../../../src/lib/seal.ts';
import { stateLabel } from '../../../src/store/secrets/seal.ts';
import type { StateRow } from '../../../src/store/schema/schema.ts';
import type { Left } from '../programs/terraform/infrastructure.ts';
import { digestOf } from '../programs/terraform/plans.ts';
import type { Rows, Watch } from './rules.ts';

/** The state that each apply left is a version of its workspace, to the byte. To be asked once nothing can happen. */
export function lookAtStates(rows: Rows, watch: Watch, left: readonly Left[], ring: Keyring): void {
  if (left.length === 0) return;
  const kept = new Set<string>();
  for (const row of rows('select * from states') as unknown as readonly StateRow[])
    kept.add(`${row.workspace} ${digestOf(ring.open(stateLabel(row), row.sealed))}`);
  for (const { workspace, digest, process, content } of left)
    if (!kept.has(`${workspace} ${digest}`))
      watch.violated('T5', `the state of serial ${content.serial} that ${process.jobId} left is not kept`);
}
