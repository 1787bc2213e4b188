/** Streams of files without the thread pool: each part is read or written at once, at a step of the world. */
import fs from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { running, theWorld } from '../../world/current.ts';
import { disown, own } from '../../world/descriptors.ts';
import { failOnFile } from '../../world/disk.ts';

const PART_BYTES = 64 * 1024;

type ReadOptions = Readonly<{ highWaterMark?: number }>;
type WriteOptions = Readonly<{ flags?: string; mode?: number }>;

export function createReadStream(path: string, options: ReadOptions = {}): Readable {
  if (running() === null) return fs.createReadStream(path, options);
  return Readable.from(partsOf(path, options.highWaterMark ?? PART_BYTES), { objectMode: false });
}

async function* partsOf(path: string, bytes: number): AsyncGenerator<Buffer> {
  await theWorld().point('file');
  const fd = own(fs.openSync(path, 'r'));
  try {
    for (;;) {
      const part = Buffer.alloc(bytes);
      const length = fs.readSync(fd, part);
      await theWorld().point('file');
      if (length === 0) return;
      yield part.subarray(0, length);
    }
  } finally {
    close(fd);
  }
}

export function createWriteStream(path: string, options: WriteOptions = {}): Writable {
  if (running() === null) return fs.createWriteStream(path, options);
  let fd = -1;
  return new Writable({
    construct: (done) => answer(() => (fd = own(fs.openSync(path, options.flags ?? 'w', options.mode))), done),
    write(chunk: Buffer, _encoding, done) {
      const work = (): void => {
        failOnFile();
        fs.writeSync(fd, chunk);
      };
      answer(work, done);
    },
    destroy(error, done) {
      if (fd >= 0) close(fd);
      done(error);
    },
  });
}

/** Does it at once, and tells when the world says. */
function answer(work: () => void, done: (error?: Error | null) => void): void {
  let error: Error | null = null;
  try {
    work();
  } catch (thrown) {
    error = thrown as Error;
  }
  theWorld().add('file', 0, () => done(error));
}

function close(fd: number): void {
  disown(fd);
  fs.closeSync(fd);
}
