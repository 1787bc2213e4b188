/** Asks a daemon of this process as its command line would. */
import type { Running } from '../../src/app/run/ready.ts';
import { localCaller } from '../../src/domain/access/caller.ts';
import { invoke } from '../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';

const CALLER = localCaller('bench');

/** Answers what the operation of this id does. Throws for one without a body. */
export async function call<T>(running: Running, id: string, raw: object): Promise<T> {
  const operation = OPERATIONS.find((row) => row.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  const answer = await invoke(running.runtime, operation, { caller: CALLER, raw });
  if (answer.shape !== 'body') throw new Error(`${id} answered without a body`);
  return answer.data as T;
}
