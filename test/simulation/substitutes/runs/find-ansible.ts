import { findAnsible as realFind } from '../../../../src/runners/ansible/tool.ts';
import { running } from '../../world/current.ts';

/** Not that of the real machine, which may have none. */
export function findAnsible(...given: Parameters<typeof realFind>): ReturnType<typeof realFind> {
  if (running() === null) return realFind(...given);
  return Promise.resolve({ path: `/simulated/bin/${given[0]}`, readable: [] });
}
