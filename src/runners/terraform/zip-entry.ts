import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);

/** Sizes and fields of the ZIP format: APPNOTE 4.3.7, 4.3.12 and 4.3.16. */
const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const ENTRY_BYTES = 46;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;
const ENCRYPTED_FLAG = 1;
const STORED = 0;
const DEFLATED = 8;
/** It is before the end record and leads to a second directory. Go's reader looks for it where a number is 0xffff. */
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_LOCATOR_SIGNATURE = 0x07064b50;
const BUFFER_SHORT = 'it ends too early';

type Entry = ReturnType<typeof entryAt>;

/**
 * The content of one entry of a zip archive, at most `limitBytes`. Strict, so that no other reader can find another
 * entry of that name in the same bytes: the directory ends where its end record begins, that record is the last thing,
 * neither sizes nor the directory are continued elsewhere (ZIP64), and the name comes once. Rejects with an Error that
 * quotes nothing of the archive.
 */
export async function readZipEntry(zip: Buffer, name: string, limitBytes: number): Promise<Buffer> {
  const { at, entry } = locate(zip, name);
  if (entry.size > limitBytes) throw new Error(`its entry ${name} has more than ${limitBytes} bytes`);
  const packed = packedOf(zip, entry, name, at);
  const content = entry.method === STORED ? packed : await inflated(packed, entry.size);
  if (content.length !== entry.size || crc32(content) !== entry.crc) throw new Error(`its entry ${name} is damaged`);
  return content;
}

/** How many bytes readZipEntry would answer at most. Throws as that rejects. */
export function sizeOfZipEntry(zip: Buffer, name: string): number {
  return locate(zip, name).entry.size;
}

function locate(zip: Buffer, name: string): { at: number; entry: Entry } {
  const directory = directoryOf(zip);
  return { at: directory.at, entry: findEntry(zip, directory, name) };
}

interface Directory {
  readonly at: number;
  readonly end: number;
  /** Entries that it says to have. */
  readonly count: number;
}

function directoryOf(zip: Buffer): Directory {
  const end = zip.length - END_BYTES;
  if (end < 0 || zip.readUInt32LE(end) !== END_SIGNATURE || zip.readUInt16LE(end + 20) !== 0)
    throw new Error('it is not a zip archive');
  const count = zip.readUInt16LE(end + 10);
  const [size, at] = [zip.readUInt32LE(end + 12), zip.readUInt32LE(end + 16)];
  const isOneDisk = zip.readUInt32LE(end + 4) === 0 && zip.readUInt16LE(end + 8) === count;
  if (!isOneDisk || at + size !== end) throw new Error('it is not a zip archive of one part');
  const hasLocator =
    end >= ZIP64_LOCATOR_BYTES && zip.readUInt32LE(end - ZIP64_LOCATOR_BYTES) === ZIP64_LOCATOR_SIGNATURE;
  if (hasLocator) throw new Error('its directory may be continued elsewhere (ZIP64)');
  return { at, count, end };
}

function findEntry(zip: Buffer, { at: begin, end, count }: Directory, name: string): Entry {
  let found: Entry | null = null;
  let at = begin;
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > end || zip.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new Error(BUFFER_SHORT);
    const nameEnd = at + ENTRY_BYTES + zip.readUInt16LE(at + 28);
    const next = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    if (next > end) throw new Error(BUFFER_SHORT);
    if (zip.toString('latin1', at + ENTRY_BYTES, nameEnd) === name) {
      if (found !== null) throw new Error(`it has two entries ${name}`);
      found = entryAt(zip, at);
    }
    at = next;
  }
  if (at !== end) throw new Error('its directory has another length than it says');
  if (found === null) throw new Error(`it has no entry ${name}`);
  return found;
}

function entryAt(zip: Buffer, at: number) {
  if ((zip.readUInt16LE(at + 8) & ENCRYPTED_FLAG) !== 0) throw new Error('it is encrypted');
  return {
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packed: zip.readUInt32LE(at + 20),
    size: zip.readUInt32LE(at + 24),
    localAt: zip.readUInt32LE(at + 42),
  };
}

/** The bytes of an entry as they lie in the archive, before its directory. */
function packedOf(zip: Buffer, { method, packed, size, localAt }: Entry, name: string, directoryAt: number): Buffer {
  if (localAt + LOCAL_BYTES > directoryAt || zip.readUInt32LE(localAt) !== LOCAL_SIGNATURE)
    throw new Error(BUFFER_SHORT);
  const nameAt = localAt + LOCAL_BYTES;
  const nameEnd = nameAt + zip.readUInt16LE(localAt + 26);
  const from = nameEnd + zip.readUInt16LE(localAt + 28);
  if (from + packed > directoryAt) throw new Error(BUFFER_SHORT);
  const isKnown = method === DEFLATED || (method === STORED && packed === size);
  if (!isKnown || zip.toString('latin1', nameAt, nameEnd) !== name)
    throw new Error(`its entry ${name} is of a kind that is not read`);
  return zip.subarray(from, from + packed);
}

async function inflated(packed: Buffer, size: number): Promise<Buffer> {
  try {
    // One byte more than there may be shows that there is more; at least one, because zero is no limit.
    return await inflate(packed, { maxOutputLength: size + 1 });
  } catch {
    throw new Error('it cannot be unpacked');
  }
}
