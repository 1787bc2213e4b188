import { randomBytes as nodeRandomBytes, randomFillSync } from 'node:crypto';

/** The only source of randomness: `length` bytes from the operating system's generator. */
export function randomBytes(length: number): Buffer {
  return nodeRandomBytes(length);
}

/** 16 random hex digits, for a name that nothing else has. */
export function randomName(): string {
  return randomBytes(8).toString('hex');
}

// One system call fills this for some hundred ids; an id per call cost 1.1 us of a 100 us request.
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Like `randomBytes`, from a pool: a view that the next calls overwrite, to be consumed at once. */
export function pooledBytes(length: number): Buffer {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return pool.subarray(used - length, used);
}
