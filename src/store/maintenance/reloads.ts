import { fromJson, toJson } from '../../lib/json.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, ReloadAnswer, RestartRow } from '../schema/schema.ts';
import { restartOf } from './restarts.ts';

/** Asks the daemon of this name to read its settings again. */
export async function requestReload(tx: Tx, node: string): Promise<void> {
  await tx.db
    .updateTable('restarts')
    .set({ reload_requested_at: tx.now, reload_answer: null })
    .where('node', '=', node)
    .execute();
}

/** Answers the request that was `seen`; one that came since is answered later. */
export async function answerReload(tx: Tx, seen: RestartRow, answer: ReloadAnswer): Promise<void> {
  await tx.db
    .updateTable('restarts')
    .set({ reload_answer: toJson(answer) })
    .where('node', '=', seen.node)
    .where('reload_requested_at', '=', seen.reload_requested_at)
    .execute();
}

/** The answer of the daemon of this name to the last request; null while it has not answered. */
export async function reloadAnswerOf(db: Db, node: string): Promise<ReloadAnswer | null> {
  const text = (await restartOf(db, node))?.reload_answer ?? null;
  return text === null ? null : fromJson(text);
}
