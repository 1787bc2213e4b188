import { open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { findProgram } from '../../lib/programs/find-program.ts';
import { isWithin } from '../../lib/within.ts';

interface AnsibleTool {
  /** Absolute, without links. */
  readonly path: string;
  /** What it needs to read besides the system's paths. */
  readonly readable: readonly string[];
}

const FIRST_LINE_BYTES = 512;

/**
 * Finds a program of Ansible in the folders of `searchPath`; null if it is missing. One that is installed in a virtual
 * environment needs that folder, unless `hidden` lies in it.
 */
export async function findAnsible(
  name: 'ansible-playbook' | 'ansible-galaxy',
  searchPath: string,
  hidden: string,
): Promise<AnsibleTool | null> {
  const found = await findProgram(name, searchPath);
  if (found === null) return null;
  const path = await realpath(found);
  const environment = await virtualEnvironment(path);
  const readable = environment === null || isWithin(hidden, environment) ? [] : [environment];
  return { path, readable: [path, ...readable] };
}

/** The folder of the virtual environment whose Python runs a script; null for any other script. */
async function virtualEnvironment(script: string): Promise<string | null> {
  const interpreter = /^#!\s*(\S+)/.exec(await firstLine(script))?.[1];
  if (interpreter === undefined || !isAbsolute(interpreter)) return null;
  const folder = dirname(dirname(interpreter));
  const isEnvironment = await stat(join(folder, 'pyvenv.cfg')).then(
    (stats) => stats.isFile(),
    () => false,
  );
  return isEnvironment ? realpath(folder) : null;
}

async function firstLine(path: string): Promise<string> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
  return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? '';
}
