import { newId as realId } from '../../../src/lib/id.ts';
import { running } from '../world/current.ts';

export { idFloor, IdSequence, isId } from '../../../src/lib/id.ts';

/** Of the process whose code runs: a daemon is one, and loses its sequence when it is killed. */
export function newId<P extends string>(prefix: P, nowMs: number): `${P}_${string}` {
  return running()?.host.ids.next(prefix, nowMs) ?? realId(prefix, nowMs);
}
