/** Bare spawns from a small process: a fork costs more where much memory is mapped, as in the bench. */
import { orders, say } from '../kit/child.ts';
import { spawnsPerSecond } from './programs.ts';

export interface SpawnOrder {
  readonly program: string;
  readonly slots: number;
  readonly count: number;
}

for await (const { program, slots, count } of orders<SpawnOrder>()) say(await spawnsPerSecond(program, slots, count));
