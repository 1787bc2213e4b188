/** Rows of events as the ledger has them, past the rules. */
import { newId } from '../../src/lib/id.ts';
import { insertEvent } from '../../src/store/events.ts';
import type { EventRow } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';

export function eventRow(some: Partial<EventRow> = {}): EventRow {
  const now = Date.now();
  return {
    id: newId('evt', now),
    source: 'generic',
    name: 'DiskFull',
    status: 'firing',
    netgroup: null,
    severity: 'critical',
    fingerprint: 'disk-1',
    labels: '{"instance":"db1"}',
    outcome: 'ignored',
    reason: 'No rule matched; 1 was tried.',
    rule: null,
    job_id: null,
    approval_id: null,
    received_at: now,
    annotations: '{"summary":"nobody is shown this"}',
    check_observations: null,
    trace: '["clean-up"]',
    depth: 0,
    ...some,
  };
}

/** Inserts them in one write; answers their rows. */
export async function putEvents(store: Store, rows: readonly Partial<EventRow>[]): Promise<EventRow[]> {
  return store.write((tx) => {
    const made = rows.map(eventRow);
    for (const row of made) insertEvent(tx, row);
    return Promise.resolve(made);
  });
}
