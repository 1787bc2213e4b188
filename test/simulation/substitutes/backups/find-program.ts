import { findProgram as realFind } from '../../../../src/lib/programs/find-program.ts';
import { running } from '../../world/current.ts';

export { openPrograms } from '../../../../src/lib/programs/find-program.ts';

/** Not that of the real machine, which may have none. */
export function findProgram(name: string, path: string): Promise<string | null> {
  return running() === null ? realFind(name, path) : Promise.resolve(`/simulated/bin/${name}`);
}
