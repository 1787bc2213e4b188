import { form } from '../form.ts';
import type { GateRow } from './tables.ts';

/** Who can write only the database must not open the gate. */
export const GATE = form<GateRow>()({
  what: 'gate',
  key: ['id'],
  columns: ['id', 'strict', 'set_at', 'localhost_runs', 'localhost_except_check'],
  hadTag: () => true,
});
