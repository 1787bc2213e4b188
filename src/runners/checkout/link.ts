import { setImmediate } from 'node:timers/promises';

/** What a copy has at one path. */
export type TreeEntry =
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly executable: boolean; readonly digest: string }
  | { readonly kind: 'link'; readonly target: string };

/** Where a symbolic link ends: `outside` also when it leaves the tree and comes back, since the copy lies elsewhere. */
type LinkEnd = 'inside' | 'outside' | 'nowhere';

/** The kernel follows at most this many links in one path. */
const HOPS_MAX = 40;
/**
 * Path segments that may be read to follow all links of one tree. 200,000 take about 10 ms of the event loop; a tree
 * with the 20,000 files that a copy may have gets ten segments a link.
 */
export const LINK_STEPS_MAX = 200_000;
/** Links that are made between two turns of the event loop: about 2 ms of system calls. */
const LINKS_PER_TURN = 200;

interface Node {
  readonly entry: TreeEntry;
  /** The folder that holds it; null for the root. */
  readonly parent: Node | null;
  readonly children: Map<string, Node>;
  /** Kept only for links that end inside: any other end refuses the tree. */
  resolved: Resolved | null;
  isBeingFollowed: boolean;
}

interface Resolved {
  readonly node: Node;
  readonly hops: number;
}

/**
 * Follows the symbolic links of a tree as the kernel would with nothing but its entries. All links share one budget of
 * steps, and the end of each link is remembered, so the work does not grow with the number of paths through the links.
 */
export class LinkFollower {
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #stepsMax: number;
  #steps = 0;

  /** Paths are relative to the root, with `/`; every folder has an entry. */
  constructor(entries: ReadonlyMap<string, TreeEntry>, stepsMax = LINK_STEPS_MAX) {
    this.#nodes = nodesOf(entries);
    this.#stepsMax = stepsMax;
  }

  /** Throws an Error that names the limit when the links of the tree take too many steps. */
  endOf(path: string): LinkEnd {
    const link = this.#nodes.get(path);
    if (link === undefined) return 'nowhere';
    const end = this.#follow(link, 1);
    return typeof end === 'string' ? end : 'inside';
  }

  #follow(link: Node, hopsBefore: number): Resolved | Exclude<LinkEnd, 'inside'> {
    if (link.resolved !== null) return link.resolved;
    if (link.entry.kind !== 'link' || link.parent === null) return 'nowhere';
    const { target } = link.entry;
    if (target.startsWith('/')) return 'outside';
    if (target === '' || link.isBeingFollowed || hopsBefore > HOPS_MAX) return 'nowhere';
    link.isBeingFollowed = true;
    try {
      const end = this.#walk(link.parent, target, hopsBefore);
      if (typeof end !== 'string') link.resolved = end;
      return end;
    } finally {
      link.isBeingFollowed = false;
    }
  }

  #walk(from: Node, target: string, hopsBefore: number): Resolved | Exclude<LinkEnd, 'inside'> {
    const parts = target.split('/');
    this.#spend(parts.length);
    let at = from;
    let hops = 1;
    for (const part of parts) {
      if (at.entry.kind !== 'folder') return 'nowhere';
      if (part === '' || part === '.') continue;
      const next = part === '..' ? at.parent : at.children.get(part);
      if (next === null) return 'outside';
      if (next === undefined) return 'nowhere';
      at = next;
      if (next.entry.kind !== 'link') continue;
      const end = this.#follow(next, hopsBefore + hops);
      if (typeof end === 'string') return end;
      at = end.node;
      hops += end.hops;
      if (hops > HOPS_MAX) return 'nowhere';
    }
    return { node: at, hops };
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#stepsMax)
      throw new Error(`The symbolic links of the tree take more than ${this.#stepsMax} steps to follow.`);
  }
}

/** The links of a tree, each with its end; yields to other work. Throws like `endOf`, or the reason of `signal`. */
export async function* linksOf(
  entries: ReadonlyMap<string, TreeEntry>,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly path: string; readonly target: string; readonly end: LinkEnd }> {
  const follower = new LinkFollower(entries);
  let links = 0;
  for (const [path, entry] of entries) {
    if (entry.kind !== 'link') continue;
    if ((links += 1) % LINKS_PER_TURN === 0) await setImmediate();
    signal?.throwIfAborted();
    yield { path, target: entry.target, end: follower.endOf(path) };
  }
}

function nodesOf(entries: ReadonlyMap<string, TreeEntry>): Map<string, Node> {
  const made = (entry: TreeEntry, parent: Node | null): Node => ({
    entry,
    parent,
    children: new Map(),
    resolved: null,
    isBeingFollowed: false,
  });
  const nodes = new Map<string, Node>([['', made({ kind: 'folder' }, null)]]);
  const add = (path: string, entry: TreeEntry): Node => {
    const known = nodes.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf('/');
    const above = slash === -1 ? '' : path.slice(0, slash);
    const parent = add(above, entries.get(above) ?? { kind: 'folder' });
    const node = made(entry, parent);
    parent.children.set(path.slice(slash + 1), node);
    nodes.set(path, node);
    return node;
  };
  for (const [path, entry] of entries) add(path, entry);
  return nodes;
}
