/** Chunks that an attacker wrote, or a fault of the disk. */
import { crc32 } from 'node:zlib';

/** Writes a chunk by hand with a right checksum, so that only the named lie is wrong with it. */
export function forged(lie: { codec?: number; count?: number; declared?: number; payload: Buffer }): Buffer {
  const header = Buffer.alloc(19);
  header.writeUInt8(lie.codec ?? 1, 0);
  header.writeUIntBE(1, 1, 6);
  header.writeUInt32BE(lie.count ?? 1, 7);
  header.writeUInt32BE(lie.declared ?? lie.payload.length, 11);
  header.writeUInt32BE(crc32(lie.payload, crc32(header.subarray(0, 15))), 15);
  return Buffer.concat([header, lie.payload]);
}

/** The run of a payload: lines of one kind. */
export function run(kind: number, count: number, bytes: Buffer, declared = bytes.length): Buffer {
  const header = Buffer.alloc(16);
  header[0] = kind;
  header.writeUInt32BE(count, 8);
  header.writeUInt32BE(declared, 12);
  return Buffer.concat([header, bytes]);
}
