import { Failure } from '../../domain/failure.ts';
import type { DirectoryIdentity, Tree } from '../../domain/sources/directory.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { Store } from '../../store/store.ts';

/** Another run, or a person, may change the row between the look and the write. */
const LOOKS = 3;

/** How the row of a directory is read again, and written where it has nothing of this machine. */
interface Keeping<Row> {
  readonly row: () => Promise<Row>;
  readonly tree: (row: Row) => Promise<Tree | null>;
  /** False where the row changed. */
  readonly keep: (tx: Tx, row: Row, column: string) => Promise<boolean>;
  /** Of the audit ledger. */
  readonly operation: string;
  readonly target: string;
}

/**
 * The tree of a row. A directory of which nothing is kept for this machine, such as one that an earlier build added, is
 * kept as it is found, with a row in the ledger: later runs are compared with it. A null tree is not on this machine.
 */
export async function knownTree<Row>(
  store: Store,
  { row: read, tree: find, keep, operation, target }: Keeping<Row>,
): Promise<{ readonly row: Row; readonly tree: Tree | null }> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const row = await read();
    const tree = await find(row);
    const column = tree?.named?.toKeep ?? null;
    if (tree === null || tree.named === null || column === null) return { row, tree };
    const detail = detailOf(tree.named.identity);
    const isKept = await store.write(async (tx) => {
      const isWritten = await keep(tx, row, column);
      // In the name of the service: it does not matter which daemon acts.
      const by = { principal: 'gatehouse', owner: 'gatehouse', via: 'daemon' } as const;
      if (isWritten) tx.record({ ...by, operation, target, detail });
      return isWritten;
    });
    if (isKept) return { row, tree };
  }
  throw new Failure('conflict', `${target} was changed while the run began: ask for a new run.`);
}

function detailOf({ device, inode, owner }: DirectoryIdentity): Record<string, unknown> {
  return { device, inode, owner };
}
