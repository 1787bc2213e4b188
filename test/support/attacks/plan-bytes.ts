/** Writes plan files by hand: a zip archive with a message of `planfile.proto` in it, right or wrong. */
import { crc32, deflateRawSync } from 'node:zlib';

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

/** A field: a number as a varint, anything else with its length. */
export function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export interface PlannedResource {
  readonly address: string;
  readonly action: number;
  readonly previous?: string;
  readonly deposed?: string;
}

export function resource({ address, action, previous, deposed }: PlannedResource): Buffer {
  const optional = [
    ...(previous === undefined ? [] : [field(14, previous)]),
    ...(deposed === undefined ? [] : [field(7, deposed)]),
  ];
  return field(3, Buffer.concat([field(8, 'provider'), field(9, field(1, action)), field(13, address), ...optional]));
}

export function planMessage(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([field(1, 3), ...parts]);
}

export function zipOf(entries: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  const [locals, directory]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [name, content] of entries) {
    const packed = deflateRawSync(content);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), shared, tail, Buffer.from(name)]));
    locals.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

/** Where an archive has its directory: `at` to `end`. */
function directoryOf(zip: Buffer): { readonly at: number; readonly end: number; readonly count: number } {
  const end = zip.length - 22;
  return { at: zip.readUInt32LE(end + 16), end, count: zip.readUInt16LE(end + 10) };
}

/** The directory of an archive whose entries begin `by` bytes later than it says. */
function movedDirectory(zip: Buffer, by: number): { readonly bytes: Buffer; readonly lastAt: number } {
  const { at: from, end, count } = directoryOf(zip);
  const bytes = Buffer.from(zip.subarray(from, end));
  let [at, lastAt] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    bytes.writeUInt32LE(bytes.readUInt32LE(at + 42) + by, at + 42);
    lastAt = at;
    at += 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return { bytes, lastAt };
}

/**
 * One archive that is `first` to a reader of the end record, and `second` to Go's, which looks for a ZIP64 record when
 * the size of the directory is 0xffff: a comment fills the directory up to that size, and ends with the locator of the
 * record.
 */
export function zipOfTwo(first: Buffer, second: Buffer): Buffer {
  const locals = [second.subarray(0, directoryOf(second).at), first.subarray(0, directoryOf(first).at)] as const;
  const hidden = movedDirectory(second, 0).bytes;
  const hiddenAt = locals[0].length + locals[1].length;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  for (const [index, value] of [
    directoryOf(second).count,
    directoryOf(second).count,
    hidden.length,
    hiddenAt,
  ].entries())
    record.writeBigUInt64LE(BigInt(value), 24 + 8 * index);
  const { bytes: shown, lastAt } = movedDirectory(first, locals[0].length);
  const comment = Buffer.alloc(0xffff - shown.length);
  comment.writeUInt32LE(0x07064b50, comment.length - 20);
  comment.writeBigUInt64LE(BigInt(hiddenAt + hidden.length), comment.length - 12);
  comment.writeUInt32LE(1, comment.length - 4);
  shown.writeUInt16LE(comment.length, lastAt + 32);
  const end = Buffer.from(first.subarray(directoryOf(first).end));
  end.writeUInt32LE(0xffff, 12);
  end.writeUInt32LE(hiddenAt + hidden.length + record.length, 16);
  return Buffer.concat([...locals, hidden, record, shown, comment, end]);
}

export function planFile(...parts: readonly Buffer[]): Buffer {
  return zipOf([
    ['tfplan', planMessage(...parts)],
    ['tfstate', Buffer.from('{}')],
  ]);
}
