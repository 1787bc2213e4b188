/**
 * The disk answers EIO at one call among many, or to all from one on: what is refused is refused, what is done is
 * there.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { checkAfterFault } from '../../support/faults/fault-check.ts';
import { runWriter, type Wrote } from '../../support/attacks/run-writer.ts';
import { needs } from '../../support/tools.ts';

const CALLS = 'fsync,fdatasync,pwrite64,ftruncate,rename';
/** One round makes some 13 calls of fsync and 250 of pwrite64. */
const ROUNDS = 4;
/** Two at a time, as the machine has cores. */
const AT_ONCE = 2;

interface Point {
  readonly calls: string;
  /** As strace takes it: the Nth call of each thread, or with + all from it on. */
  readonly when: string;
  /** On a store that is still to be made. */
  readonly fresh?: boolean;
}

function points(calls: string, whens: readonly (number | string)[], fresh = false): Point[] {
  return whens.map((when) => ({ calls, when: String(when), fresh }));
}

/** Single faults over the whole of the program, faults of several calls at once, and a disk that stays broken. */
const POINTS: readonly Point[] = [
  ...points('fsync,fdatasync', [1, 2, 3, 4, 6, 9, 13, 18, 24, 31, 36, 40]),
  ...points('pwrite64', [1, 2, 3, 5, 9, 17, 33, 60, 110, 170, 240, 300, 480, 640]),
  ...points(CALLS, [7, 21, 45, '30+2', '3..200']),
  ...points(CALLS, ['1+', '12+', '40+', '300+']),
  ...points(CALLS, [1, 2, 4, 8, 30, 120], true),
];

describe('An I/O error of the disk', { skip: needs('strace') }, () => {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-io-'));
  const template = join(root, 'template');
  const cacheDir = join(root, 'cache');
  before(async () => {
    const { over, odd } = await runWriter({ dataDir: template, rounds: 1, cacheDir });
    assert.deepEqual({ over, odd }, { over: true, odd: [] });
  });
  test.after(() => rmSync(root, { recursive: true, force: true }));

  async function run({ calls, when, fresh }: Point, n: number): Promise<Wrote> {
    const dataDir = join(root, `at-${n}`);
    if (fresh !== true) cpSync(template, dataDir, { recursive: true });
    const log = join(root, `at-${n}.log`);
    const strace = [
      '-f',
      '--seccomp-bpf',
      '-qq',
      '-o',
      log,
      '-e',
      `trace=${calls}`,
      '-e',
      `inject=${calls}:error=EIO:when=${when}`,
    ];
    const wrote = await runWriter({ dataDir, rounds: ROUNDS, strace, cacheDir });
    const name = `${calls} ${when}${fresh === true ? ' on a new store' : ''}`;
    assert.ok(readFileSync(log, 'latin1').includes('INJECTED'), `${name}: no call failed`);
    assert.equal(wrote.over, true, `${name}: the program ended early: ${wrote.stderr}`);
    assert.deepEqual(wrote.odd, [], `${name}: not refused as unavailable`);
    assert.deepEqual(await checkAfterFault(dataDir, wrote.facts), { lost: [], corrupt: [] }, name);
    const isLasting = !/^\d+$/.test(when) || fresh === true;
    if (!isLasting)
      assert.ok(
        wrote.refused.length < ROUNDS,
        `${name}: one fault, and nothing worked after it: ${wrote.refused.join('; ')}`,
      );
    // A restart on a sound disk finds a store that works.
    const again = isLasting ? await runWriter({ dataDir, rounds: 1, cacheDir }) : wrote;
    assert.deepEqual([again.odd, again.over], [[], true], `${name}: after a restart`);
    if (isLasting) assert.deepEqual(again.refused, [], `${name}: after a restart`);
    rmSync(dataDir, { recursive: true });
    return wrote;
  }

  test(
    `F06: at ${POINTS.length} points a call fails cleanly, the store stays whole, nothing acknowledged is lost ` +
      'and nothing is settled twice',
    async (t) => {
      const left = [...POINTS.entries()];
      let [refused, facts] = [0, 0];
      const work = async (): Promise<void> => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const wrote = await run(next[1], next[0]);
          refused += wrote.refused.length;
          facts += wrote.facts.length;
        }
      };
      // Both have ended before the folder is removed, also when one of them has found something.
      const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      t.diagnostic(`${refused} refused, ${facts} acknowledged`);
      assert.ok(refused >= POINTS.length / 2, `only ${refused} were refused: the faults hit nothing that matters`);
    },
  );
});
