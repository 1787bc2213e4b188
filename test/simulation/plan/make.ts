/** Parts of actions, drawn by chance. */
import type { Stream } from '../world/chance.ts';
import type { Actor, Made, Pick } from './plan.ts';

export function call(as: Actor, operation: string, raw: Readonly<Record<string, unknown>>, key?: string): Made {
  return { do: 'call', as, operation, raw, ...(key === undefined ? {} : { key }) };
}

export function keyOf(chance: Stream): string {
  return `key-${chance.whole(0, 1e9)}`;
}

export function some(chance: Stream, of: Pick['of']): Pick {
  return { of, at: chance.next() };
}
