import { realpath } from 'node:fs/promises';
import { findProgram } from '../../lib/programs/find-program.ts';

/** The programs that can do it, in the order they are looked for. */
const NAMES = ['terraform', 'tofu'] as const;

export interface Tool {
  readonly name: (typeof NAMES)[number];
  /** Absolute, links resolved: the sandbox opens this file itself. */
  readonly path: string;
}

/** Finds terraform, else tofu, in the folders of `searchPath`. Null when neither is there. */
export async function findTool(searchPath: string): Promise<Tool | null> {
  for (const name of NAMES) {
    const path = await findProgram(name, searchPath);
    if (path !== null) return { name, path: await realpath(path) };
  }
  return null;
}
