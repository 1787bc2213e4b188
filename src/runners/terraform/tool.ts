import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** The programs that can do it, in the order they are looked for. */
const NAMES = ['terraform', 'tofu'] as const;

export interface Tool {
  readonly name: (typeof NAMES)[number];
  /** Absolute, links resolved: the sandbox opens this file itself. */
  readonly path: string;
}

/** Finds terraform, else tofu, in the folders of `searchPath`. Null when neither is there. */
export async function findTool(searchPath: string): Promise<Tool | null> {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = await executable(join(folder, name));
      if (path !== null) return { name, path };
    }
  }
  return null;
}

async function executable(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    return await realpath(path);
  } catch {
    return null;
  }
}
