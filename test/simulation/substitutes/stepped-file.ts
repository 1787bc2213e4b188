import fs from 'node:fs';
import { disown, own } from '../world/descriptors.ts';
import { failOnFile } from '../world/disk.ts';
import { stepped } from './stepped.ts';

/** Of a FileHandle what the product uses. */
export class SteppedFile {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = own(fd);
  }

  read(buffer: Buffer, offset = 0, length = buffer.length - offset, position: number | null = null) {
    return stepped(() => ({ bytesRead: fs.readSync(this.fd, buffer, offset, length, position), buffer }));
  }

  write(data: Buffer | string, ...more: unknown[]) {
    const write = fs.writeSync as (fd: number, from: Buffer | string, ...rest: unknown[]) => number;
    return this.#writing(() => ({ bytesWritten: write(this.fd, data, ...more), buffer: data }));
  }

  readFile(options?: BufferEncoding) {
    return stepped(() => fs.readFileSync(this.fd, { encoding: options ?? null }));
  }

  writeFile(data: string | Uint8Array) {
    return this.#writing(() => fs.writeFileSync(this.fd, data));
  }

  appendFile(data: string | Uint8Array) {
    return this.#writing(() => fs.appendFileSync(this.fd, data));
  }

  stat(options?: fs.StatOptions) {
    return stepped(() => fs.fstatSync(this.fd, options));
  }

  chmod(mode: number) {
    return stepped(() => fs.fchmodSync(this.fd, mode));
  }

  truncate(length?: number) {
    return stepped(() => fs.ftruncateSync(this.fd, length));
  }

  sync() {
    return stepped(() => fs.fsyncSync(this.fd));
  }

  datasync() {
    return this.sync();
  }

  close() {
    return stepped(() => {
      disown(this.fd);
      fs.closeSync(this.fd);
    });
  }

  #writing<T>(write: () => T): Promise<T> {
    return stepped(() => {
      failOnFile();
      return write();
    });
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }
}

/** Of a Dir what the product uses. */
export class SteppedDir {
  readonly #entries: fs.Dirent[];
  #isOpen = true;

  constructor(dir: fs.Dir) {
    const entries: fs.Dirent[] = [];
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) entries.push(entry);
    this.#entries = sortedEntries(entries);
    // A daemon that is killed closes nothing more.
    dir.closeSync();
  }

  read() {
    return stepped(() => this.#entries.shift() ?? null);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await stepped(() => undefined);
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (let entry = await this.read(); entry !== null; entry = await this.read()) yield entry;
    } finally {
      await this.close();
    }
  }
}

/** By their names, as text. */
export function sortedEntries<T extends string | Buffer | fs.Dirent>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf(entry: string | Buffer | fs.Dirent): string {
  return typeof entry === 'string' || Buffer.isBuffer(entry) ? String(entry) : entry.name;
}
