import { findTool as realFind, type Tool } from '../../../../src/runners/terraform/tool.ts';
import { running } from '../../world/current.ts';

export type { Tool } from '../../../../src/runners/terraform/tool.ts';

/** Not that of the real machine, which may have none. */
export function findTool(searchPath: string): Promise<Tool | null> {
  if (running() === null) return realFind(searchPath);
  return Promise.resolve({ name: 'terraform', path: '/simulated/bin/terraform' });
}
