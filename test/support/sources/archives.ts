/** Archives made in memory, the same bytes each time. */
import { crc32, gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly path: string;
  readonly text: string;
}

const BLOCK = 512;

/** A gzipped archive of type ustar. */
export function tarball(entries: readonly TarEntry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.map(tarEntry), Buffer.alloc(2 * BLOCK)]));
}

function tarEntry({ path, text }: TarEntry): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0);
  header.write(`${octal(0o644, 8)}\0${octal(0, 8)}\0${octal(0, 8)}\0`, 100);
  header.write(`${octal(content.length, 12)}\0${octal(0, 12)}\0        `, 124);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(`${octal(sumOf(header), 7)}\0`, 148);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

function octal(value: number, length: number): string {
  return value.toString(8).padStart(length - 1, '0');
}

function sumOf(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => sum + byte, 0);
}

/** An archive of one program, not compressed. */
export function zip(name: string, content: Buffer): Buffer {
  const [signature, directory, end] = [0x04034b50, 0x02014b50, 0x06054b50];
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  // The first day that the format knows.
  fields.writeUInt16LE(0x21, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([uint32(signature), fields, Buffer.from(name), content]);
  const attributes = Buffer.alloc(14);
  attributes.writeUInt32LE((0o100755 << 16) >>> 0, 6);
  const madeOnUnix = Buffer.from([20, 3]);
  const entry = Buffer.concat([uint32(directory), madeOnUnix, fields, attributes, Buffer.from(name)]);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(1, 4);
  tail.writeUInt16LE(1, 6);
  tail.writeUInt32LE(entry.length, 8);
  tail.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, entry, uint32(end), tail]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
