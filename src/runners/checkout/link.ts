/** What a copy has at one path. */
export type TreeEntry =
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly executable: boolean; readonly digest: string }
  | { readonly kind: 'link'; readonly target: string };

/** As many links as the kernel follows in one path. */
const HOPS_MAX = 40;

/**
 * Where the symbolic link at `path` ends, as the kernel would find it with nothing but these entries: `inside` the tree,
 * `outside` of it (also when it only leaves and comes back, since the copy lies elsewhere), or `nowhere`. Paths are
 * relative to the root, with `/`.
 */
export function whereLinkLeads(entries: ReadonlyMap<string, TreeEntry>, path: string): 'inside' | 'outside' | 'nowhere' {
  const waiting = path.split('/').toReversed();
  const at: string[] = [];
  let hops = 0;
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return 'outside';
      continue;
    }
    const entry = entries.get([...at, part].join('/'));
    if (entry === undefined) return 'nowhere';
    if (entry.kind === 'file' && waiting.length > 0) return 'nowhere';
    if (entry.kind === 'link') {
      hops += 1;
      if (entry.target.startsWith('/')) return 'outside';
      if (hops > HOPS_MAX) return 'nowhere';
      waiting.push(...entry.target.split('/').toReversed());
    } else {
      at.push(part);
    }
  }
  return 'inside';
}
