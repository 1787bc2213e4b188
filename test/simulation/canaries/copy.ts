import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of the project, in which faults are planted one after the other. */
export interface Copy {
  readonly root: string;
  /** Has the source as it is in the project again. */
  readonly restore: () => void;
  readonly close: () => void;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const LEFT = ['.git', 'dist'].map((name) => join(ROOT, name));
/** What a canary may change. */
const CHANGED = ['src', 'migrations'];
const EXACTLY = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true } as const;

/** In a temporary folder, with its own packages: what runs there reaches nothing of the project. */
export function openCopy(): Copy {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-canaries-'));
  const root = join(home, 'copy');
  cpSync(ROOT, root, { ...EXACTLY, filter: (path) => !LEFT.includes(path) });
  return {
    root,
    restore() {
      for (const name of CHANGED) {
        rmSync(join(root, name), { recursive: true, force: true });
        cpSync(join(ROOT, name), join(root, name), EXACTLY);
      }
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}
