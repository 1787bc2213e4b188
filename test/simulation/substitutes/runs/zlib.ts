/** Compression without the thread pool: done at once, and answered when the world says. */
import zlib from 'node:zlib';
import { running, theWorld } from '../../world/current.ts';

export { default } from 'node:zlib';
export * from 'node:zlib';
export { createZstdCompress, createZstdDecompress } from '../backups/zstd.ts';

type Callback = (error: Error | null, value?: unknown) => void;
type Sync = (...args: unknown[]) => unknown;

function called(name: 'inflateRaw' | 'zstdCompress' | 'zstdDecompress'): (...args: unknown[]) => void {
  const real = zlib[name] as (...args: unknown[]) => void;
  const sync = zlib[`${name}Sync`] as Sync;
  return (...args) => {
    if (running() === null) return real(...args);
    const done = args.at(-1) as Callback;
    let answer: Parameters<Callback>;
    try {
      answer = [null, sync(...args.slice(0, -1))];
    } catch (error) {
      answer = [error as Error];
    }
    theWorld().add('zlib', 0, () => done(...answer));
  };
}

export const inflateRaw = called('inflateRaw');
export const zstdCompress = called('zstdCompress');
export const zstdDecompress = called('zstdDecompress');
