/** A pg_dump that writes something of some length, which nothing restores in this world. */
import { appendFileSync } from 'node:fs';
import type { Program } from './program.ts';

const PARTS = 8;
const PART_BYTES = 4_000;
const PART_MS = 300;
const FAIL_SHARE = 0.1;
const FILE = '--file=';

export const PG_DUMP: Program = {
  isDeaf: false,
  *run({ process, chance, warn }) {
    const file = process.argv.find((word) => word.startsWith(FILE))?.slice(FILE.length) ?? '';
    try {
      for (let left = chance.whole(1, PARTS); left > 0; left -= 1) {
        appendFileSync(file, chance.bytes(PART_BYTES));
        yield chance.whole(1, PART_MS);
      }
    } catch {
      // The directory of the run is gone.
      return 1;
    }
    if (!chance.chance(FAIL_SHARE)) return 0;
    warn('pg_dump: error: the connection was lost\n');
    return 1;
  },
};
