import { AREAS } from '../areas/areas.ts';
import type { Rows, Watch } from './rules.ts';

/** To be asked once nothing is left to happen. `messages` are those that the phone has shown, as JSON. */
export function lookAtRest(rows: Rows, watch: Watch, messages: readonly string[]): void {
  for (const { atRest = [] } of AREAS)
    for (const { rule, sql, words } of atRest) for (const row of rows(sql)) watch.violated(rule, words(row));
  const shown = new Set(messages.map((each) => (JSON.parse(each) as { id: string }).id));
  for (const { page_id: id } of rows("select page_id from deliveries where state = 'sent'"))
    if (!shown.has(String(id))) watch.violated('N2', `the notification ${String(id)} counts as sent and was not shown`);
}
