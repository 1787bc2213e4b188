/** For tests: git's objects and packs, written byte by byte, so that nothing checks what is in them. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
/** The mode and the name as they stand in a tree, and the object's name. */
export type Entry = readonly [mode: string, name: string | Buffer, object: string];

export const TYPE_NUMBERS = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6, nameDelta: 7 } as const;
const WHO = 'a <a@b> 1700000000 +0000';

const sha1 = (bytes: Buffer): Buffer => createHash('sha1').update(bytes).digest();

/** The type and size that begin an object of a pack. */
export function packHead(type: number, size: number): Buffer {
  const bytes = [];
  let left = Math.floor(size / 16);
  bytes.push((type << 4) | (size % 16) | (left > 0 ? 0x80 : 0));
  while (left > 0) {
    const low = left % 128;
    left = Math.floor(left / 128);
    bytes.push(low | (left > 0 ? 0x80 : 0));
  }
  return Buffer.from(bytes);
}

function varint(value: number): Buffer {
  const bytes = [];
  for (let left = value; ;) {
    const low = left % 128;
    left = Math.floor(left / 128);
    bytes.push(low | (left > 0 ? 0x80 : 0));
    if (left === 0) return Buffer.from(bytes);
  }
}

/** A difference: the sizes that it claims, and its instructions. */
export function delta(baseSize: number, size: number, instructions: Buffer): Buffer {
  return Buffer.concat([varint(baseSize), varint(size), instructions]);
}

/** Copies the first 64 KiB of the base `times` times. */
export const copies = (times: number): Buffer => Buffer.alloc(times, 0x80);

interface PackFaults {
  readonly magic?: string;
  readonly version?: number;
  readonly count?: number;
  readonly checksum?: Buffer;
}

/** The objects of one repository. */
export class Objects {
  readonly #loose = new Map<string, Buffer>();
  readonly #packed: Buffer[] = [];
  /** The commit that was made last. */
  lastCommit: string | null = null;

  add(type: ObjectType, content: string | Buffer): string {
    const bytes = Buffer.from(content);
    const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
    const name = sha1(whole).toString('hex');
    if (this.#loose.has(name)) return name;
    this.#loose.set(name, whole);
    if (type === 'commit') this.lastCommit = name;
    this.#packed.push(Buffer.concat([packHead(TYPE_NUMBERS[type], bytes.length), deflateSync(bytes, { level: 1 })]));
    return name;
  }

  blob(content: string | Buffer = 'x\n'): string {
    return this.add('blob', content);
  }

  tree(...entries: readonly Entry[]): string {
    return this.add(
      'tree',
      Buffer.concat(
        entries.map(([mode, name, object]) =>
          Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.of(0), Buffer.from(object, 'hex')]),
        ),
      ),
    );
  }

  /** A tree whose entries are in the order that git wants. */
  sortedTree(...entries: readonly Entry[]): string {
    const key = ([mode, name]: Entry): Buffer =>
      Buffer.concat([Buffer.from(name), Buffer.from(mode === '40000' ? '/' : '')]);
    return this.tree(...entries.toSorted((a, b) => Buffer.compare(key(a), key(b))));
  }

  commit(
    tree: string,
    more: { readonly headers?: string | Buffer; readonly message?: string | Buffer; readonly author?: string } = {},
  ): string {
    const { headers = '', message = 'x\n', author = WHO } = more;
    const head = [
      Buffer.from(`tree ${tree}\nauthor ${author}\ncommitter ${WHO}\n`),
      Buffer.from(headers),
      Buffer.from('\n'),
      Buffer.from(message),
    ];
    return this.add('commit', Buffer.concat(head));
  }

  tag(object: string, type: ObjectType, name = 't'): string {
    return this.add('tag', `object ${object}\ntype ${type}\ntag ${name}\ntagger ${WHO}\n\nx\n`);
  }

  /** Puts an object into the pack as it is given: head, what follows it, and bytes that are deflated. */
  raw(type: number, size: number, between: Buffer, deflated: Buffer): void {
    this.#packed.push(Buffer.concat([packHead(type, size), between, deflated]));
  }

  pack({ magic = 'PACK', version = 2, count = this.#packed.length, checksum }: PackFaults = {}): Buffer {
    const head = Buffer.alloc(12);
    head.write(magic, 'latin1');
    head.writeUInt32BE(version, 4);
    head.writeUInt32BE(count, 8);
    const body = Buffer.concat([head, ...this.#packed]);
    return Buffer.concat([body, checksum ?? sha1(body)]);
  }

  /** Writes a bare repository whose branch `main` is that commit. */
  store(folder: string, commit: string): void {
    for (const [name, whole] of this.#loose)
      writeBelow(folder, `objects/${name.slice(0, 2)}/${name.slice(2)}`, deflateSync(whole));
    mkdirSync(join(folder, 'objects', 'info'), { recursive: true });
    writeBelow(folder, 'HEAD', 'ref: refs/heads/main\n');
    writeBelow(folder, 'config', '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
    writeBelow(folder, 'refs/heads/main', `${commit}\n`);
  }
}

export function writeBelow(folder: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
