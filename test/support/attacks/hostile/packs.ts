/** Packs, commits and tags of hostile repositories. */
import { createHash } from 'node:crypto';
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { type Hostile, sent } from './corpus.ts';
import { copies, delta, type Objects, TYPE_NUMBERS } from './objects.ts';

const FAILED = /git fetch failed/;
const MIB = 1024 * 1024;

const plain = (objects: Objects): string => objects.commit(objects.tree(['100644', 'f', objects.blob()]));
/** A pack that is altered on its way. */
const altered = (name: string, alter: (objects: Objects) => Buffer): Hostile =>
  sent(`pack: ${name}`, FAILED, plain, (objects) => ({ pack: alter(objects) }));
const cutBy = (pack: Buffer, bytes: number): Buffer => pack.subarray(0, pack.length - bytes);
const blobName = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** A blob of 64 KiB and differences that follow from it, each given as what its instructions make of the one before. */
function withDeltas(
  objects: Objects,
  results: readonly { readonly instructions: Buffer; readonly size: number; readonly baseSize?: number }[],
  file: (base: string) => string,
): string {
  const base = Buffer.alloc(65_536, 'x');
  let name = objects.blob(base);
  for (const { instructions, size, baseSize = 65_536 } of results) {
    const difference = delta(baseSize, size, instructions);
    objects.raw(TYPE_NUMBERS.nameDelta, difference.length, Buffer.from(name, 'hex'), deflateSync(difference));
    name = file(name);
  }
  return objects.commit(objects.tree(['100644', 'f', name]));
}

function deepChain(objects: Objects, depth: number): string {
  let content = Buffer.from('x'.repeat(100));
  let name = objects.blob(content);
  for (let n = 0; n < depth; n += 1) {
    const more = Buffer.from(`${n}\n`);
    // Copies all of the base, and adds a few bytes.
    const instructions = Buffer.concat([
      Buffer.of(0x80 | 0x10 | 0x20, content.length & 0xff, content.length >> 8),
      Buffer.of(more.length),
      more,
    ]);
    const difference = delta(content.length, content.length + more.length, instructions);
    objects.raw(TYPE_NUMBERS.nameDelta, difference.length, Buffer.from(name, 'hex'), deflateSync(difference));
    content = Buffer.concat([content, more]);
    name = blobName(content);
  }
  return objects.commit(objects.tree(['100644', 'f', name]));
}

/** Mebibytes of zeros, deflated without holding them: each is a block that refers to nothing before it. */
function deflatedZeros(mebibytes: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(MIB), { finishFlush: constants.Z_FULL_FLUSH });
  const adler = Buffer.alloc(4);
  adler.writeUInt16BE((mebibytes * MIB) % 65_521);
  adler.writeUInt16BE(1, 2);
  return Buffer.concat([
    Buffer.of(0x78, 0x01),
    ...Array.from({ length: mebibytes }, () => block),
    Buffer.of(3, 0),
    adler,
  ]);
}

export const PACKS: readonly Hostile[] = [
  altered('without anything', () => Buffer.alloc(0)),
  altered('cut off in its head', (objects) => objects.pack().subarray(0, 8)),
  altered('cut off in an object', (objects) => cutBy(objects.pack(), 40)),
  altered('without its checksum', (objects) => cutBy(objects.pack(), 20)),
  altered('a wrong checksum', (objects) => objects.pack({ checksum: Buffer.alloc(20, 1) })),
  altered('no pack', () => Buffer.from('<html>no</html>'.repeat(100))),
  altered('another magic', (objects) => objects.pack({ magic: 'KCAP' })),
  altered('version 9', (objects) => objects.pack({ version: 9 })),
  altered('claims four billion objects', (objects) => objects.pack({ count: 0xffff_ffff })),
  altered('claims one object more', (objects) => objects.pack({ count: 4 })),
  altered('claims one object less', (objects) => objects.pack({ count: 2 })),
  altered('an object of an unknown type', (objects) => {
    objects.raw(5, 2, Buffer.alloc(0), deflateSync('x\n'));
    return objects.pack();
  }),
  altered('an object that is not deflated', (objects) => {
    objects.raw(TYPE_NUMBERS.blob, 100, Buffer.alloc(0), Buffer.alloc(100, 0xff));
    return objects.pack();
  }),
  altered('a blob that claims a terabyte', (objects) => {
    objects.raw(TYPE_NUMBERS.blob, 2 ** 40, Buffer.alloc(0), deflateSync('x\n'));
    return objects.pack();
  }),
  altered('a folder that claims a gibibyte', (objects) => {
    objects.raw(TYPE_NUMBERS.tree, 2 ** 30, Buffer.alloc(0), deflateSync('x\n'));
    return objects.pack();
  }),
  altered('a blob that is larger than it claims', (objects) => {
    objects.raw(TYPE_NUMBERS.blob, 2, Buffer.alloc(0), deflateSync(Buffer.alloc(MIB)));
    return objects.pack();
  }),
  altered('a difference from a missing object', (objects) => {
    const difference = delta(100, 100, Buffer.of(0x90, 100));
    objects.raw(TYPE_NUMBERS.nameDelta, difference.length, Buffer.alloc(20, 0xab), deflateSync(difference));
    return objects.pack();
  }),
  altered('a difference from before the pack', (objects) => {
    const difference = delta(100, 100, Buffer.of(0x90, 100));
    objects.raw(TYPE_NUMBERS.offsetDelta, difference.length, Buffer.of(0xff, 0xff, 0x7f), deflateSync(difference));
    return objects.pack();
  }),
  altered('a difference from itself', (objects) => {
    const difference = delta(100, 100, Buffer.of(0x90, 100));
    objects.raw(TYPE_NUMBERS.offsetDelta, difference.length, Buffer.of(0), deflateSync(difference));
    return objects.pack();
  }),
  sent('pack: a difference that copies from behind its base', FAILED, (objects) =>
    withDeltas(objects, [{ instructions: Buffer.of(0x8f, 0xff, 0xff, 0xff, 0x7f), size: 65_536 }], () =>
      'ab'.repeat(20),
    ),
  ),
  sent('pack: a difference of 20 KB that makes 1.3 GB', FAILED, (objects) =>
    withDeltas(objects, [{ instructions: copies(20_000), size: 20_000 * 65_536 }], () => 'ab'.repeat(20)),
  ),
  sent('pack: a difference that claims 2^50 bytes', FAILED, (objects) =>
    withDeltas(objects, [{ instructions: copies(1), size: 2 ** 50 }], () => 'ab'.repeat(20)),
  ),
  sent('pack: 500 differences in a chain', ['f'], (objects) => deepChain(objects, 500)),
  sent('pack: a file of 300 MiB in 300 KiB', /more than 268435456 bytes/, (objects) => {
    objects.raw(TYPE_NUMBERS.blob, 300 * MIB, Buffer.alloc(0), deflatedZeros(300));
    return objects.commit(objects.tree(['100644', 'f', objects.blob()]));
  }),
];

/** The name of a new commit of one file, with the given message and headers. */
const commitOf = (objects: Objects, more: Parameters<Objects['commit']>[1]): string =>
  objects.commit(objects.tree(['100644', 'f', objects.blob()]), more);
const TOO_LARGE = /git fetch failed|commit object of the repository has more than 1048576 bytes/;

export const COMMITS: readonly Hostile[] = [
  sent('commit: a message of 2 MiB', TOO_LARGE, (objects) =>
    commitOf(objects, { message: Buffer.alloc(2 * MIB, 'x') }),
  ),
  sent('commit: a message of 20 MiB', TOO_LARGE, (objects) =>
    commitOf(objects, { message: Buffer.alloc(20 * MIB, 'x') }),
  ),
  sent('commit: headers of 2 MiB', TOO_LARGE, (objects) =>
    commitOf(objects, { headers: `x ${'x'.repeat(2 * MIB)}\n` }),
  ),
  sent('commit: 30,000 parents', TOO_LARGE, (objects) => {
    const tree = objects.tree(['100644', 'f', objects.blob()]);
    const parents = Array.from({ length: 30_000 }, () => `parent ${'ab'.repeat(20)}\n`).join('');
    return objects.add('commit', `tree ${tree}\n${parents}author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`);
  }),
  sent('commit: without a tree', FAILED, (objects) =>
    objects.add('commit', 'author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n'),
  ),
  sent('commit: a tree that is missing', FAILED, (objects) => objects.commit('ab'.repeat(20))),
  sent('commit: a tree that is a file', FAILED, (objects) => objects.commit(objects.blob())),
  sent('commit: an invalid encoding', ['f'], (objects) =>
    commitOf(objects, { headers: 'encoding \u001b]0;x\u0007\n', message: Buffer.of(0xff, 0xfe, 0x0a) }),
  ),
  sent('commit: a NUL in its message', /git fetch failed|^f$/, (objects) => commitOf(objects, { message: 'x\0y\n' })),
  sent('commit: an invalid author', FAILED, (objects) => commitOf(objects, { author: 'x' })),
  sent('commit: another one is sent with it', /more than one commit|git fetch failed/, (objects) => {
    commitOf(objects, { message: 'other\n' });
    return commitOf(objects, {});
  }),
  sent('tag: of a commit', ['f'], (objects) => objects.tag(commitOf(objects, {}), 'commit')),
  sent('tag: a hundred in a chain', /more than|git fetch failed|^f$/, (objects) => {
    let name = objects.tag(commitOf(objects, {}), 'commit');
    for (let n = 0; n < 100; n += 1) name = objects.tag(name, 'tag', `t${n}`);
    return name;
  }),
  sent('tag: of a file', /not a commit|git fetch failed/, (objects) => objects.tag(objects.blob(), 'blob')),
  sent('ref: names a file', /not a commit|git fetch failed/, (objects) => objects.blob()),
  sent('ref: names a folder', /not a commit|git fetch failed/, (objects) =>
    objects.tree(['100644', 'f', objects.blob()]),
  ),
];
