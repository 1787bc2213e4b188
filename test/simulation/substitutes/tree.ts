import { endTree as realEnd, findTree as realFind } from '../../../src/runners/process/tree.ts';
import { running } from '../world/current.ts';
import { theProcesses } from '../programs/processes.ts';

export { findSurvivors, GRACE_DEFAULT_MS } from '../../../src/runners/process/tree.ts';
export type { EndTreeOptions, Leader, TreeMembers } from '../../../src/runners/process/tree.ts';

export const endTree: typeof realEnd = (options) =>
  running() === null ? realEnd(options) : theProcesses().endTree(options);

export const findTree: typeof realFind = (...given) => (running() === null ? realFind(...given) : Promise.resolve([]));
