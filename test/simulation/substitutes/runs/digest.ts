import { digestOf as real } from '../../../../src/config/program/digest.ts';
import { running } from '../../world/current.ts';

export { runningProgram } from '../../../../src/config/program/digest.ts';

/** A machine has one program. */
export function digestOf(...args: Parameters<typeof real>): Promise<string> {
  const who = running();
  return who === null ? real(...args) : Promise.resolve(`program-${who.host.machine.program}`);
}
