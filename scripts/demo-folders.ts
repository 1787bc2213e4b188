/** The temporary directories of the demo. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openTemporaryFolder, temporaryFolder } from './tests/open-folder.ts';

export interface DemoFolders {
  /** Closed to other accounts: the data, the log and the inputs. */
  readonly own: string;
  /** Passable for the account of the jobs: their directories, and the programs that they need. */
  readonly open: string;
  readonly data: string;
  readonly runs: string;
  readonly tools: string;
  readonly log: string;
}

/** Of `open`: others pass it by name and list nothing. */
const PASSABLE = 0o711;

export function makeFolders(): DemoFolders {
  const own = mkdtempSync(join(temporaryFolder(), 'gatehouse-demo-'));
  const data = join(own, 'data');
  let open = own;
  try {
    open = mkdtempSync(join(openTemporaryFolder(), 'gatehouse-demo-open-'));
    chmodSync(open, PASSABLE);
    mkdirSync(data, { mode: 0o700 });
  } catch (error) {
    removeFolders({ own, open });
    throw error;
  }
  return { own, open, data, runs: join(open, 'runs'), tools: join(open, 'tools'), log: join(own, 'daemon.log') };
}

export function removeFolders({ own, open }: Pick<DemoFolders, 'own' | 'open'>): void {
  for (const each of [own, open]) rmSync(each, { recursive: true, force: true, maxRetries: 3 });
}
