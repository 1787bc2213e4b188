import * as fs from 'node:fs';
import { promisify } from 'node:util';

const close = promisify(fs.close);
const fstat = promisify(fs.fstat);
const read = promisify(fs.read);
const write = promisify(fs.write);

/** An open file of a run. Its rights were decided when it was opened. */
export class OpenFile implements AsyncDisposable {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  stats(): Promise<fs.Stats> {
    return fstat(this.fd);
  }

  /** The first `length` bytes, or fewer where the file ends. */
  async read(length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await read(this.fd, bytes, filled, length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  /** Reads at an offset; the number of bytes is 0 at the end of the file. */
  async readInto(bytes: Buffer, at: number): Promise<number> {
    return (await read(this.fd, bytes, 0, bytes.length, at)).bytesRead;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await write(this.fd, bytes, done, bytes.length - done, done);
      done += bytesWritten;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.fd);
  }
}
