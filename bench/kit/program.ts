/** The program as a package carries it: the bundle. It starts with half of the processor time of the sources. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** The command. `dist` must have been made before it is started. */
export const SVC = packedCommand();

/** A folder like that of an installed package, for the time of this process: `bin/svc` beside the bundle. */
function packedCommand(): string {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-bench-package-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'bin'));
  copyFileSync(join(ROOT, 'bin', 'svc'), join(home, 'bin', 'svc'));
  for (const name of ['dist', 'node_modules']) symlinkSync(join(ROOT, name), join(home, name));
  return join(home, 'bin', 'svc');
}
