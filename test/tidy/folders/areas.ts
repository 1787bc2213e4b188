/** Areas: the folders below a layer. No circle of files, no circle of areas, ranks of areas, and few files a folder. */
import { posix } from 'node:path';
import { importsOf } from './layers.ts';
import { type Finding, isTest, type Source } from '../source.ts';

/** A node of the graph to the nodes that it imports, each with a file that does. */
export type Graph = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const CIRCLES_WHY =
  'What imports each other can only be read, tested and changed together. Move what both need to a file below both.';

export const RANKS_WHY =
  'What many areas need must not need them: access, sources, secrets and inventories are below jobs and approvals, ' +
  'those below the kinds of work, those below schedules and rules.';

export const FOLDER_FILES_MAX = 20;
export const FOLDER_WHY = 'A folder reads like a table of contents. A longer one has parts: give each a folder.';

/** Areas by rank: an area imports none of a higher rank in its layer. An area that is not listed has no rank. */
const RANKS: readonly (readonly string[])[] = [
  ['access', 'sources', 'secrets', 'inventories'],
  ['jobs', 'approvals'],
  ['workspaces', 'commands', 'playbooks', 'backups', 'vendor', 'workflows'],
  ['schedules', 'rules'],
];

/** Tables of kinds: they compose the rows of all areas, so each is a separate node and nothing below may need it. */
export const TABLES = [
  'src/domain/kinds.ts',
  'src/domain/rules/actions.ts',
  'src/jobs/kinds.ts',
  'src/jobs/actions.ts',
  'src/operations/areas.ts',
  'src/store/areas.ts',
  'src/store/schema/schema.ts',
  'src/daemon/kinds.ts',
  'src/daemon/loops.ts',
  'src/views/views.ts',
  'src/faces/areas/texts.ts',
  'src/faces/areas/pages.ts',
];

/** Folders whose files are numbered and never removed. */
const GROWING = ['migrations/sqlite', 'migrations/postgres', 'docs/decisions'];

/** The imports between files of src, tests left out. */
export function fileGraph(sources: readonly Source[]): Graph {
  const graph = new Map<string, Map<string, string>>();
  for (const source of sources) {
    if (!source.path.startsWith('src/') || isTest(source.path)) continue;
    const targets = importsOf(source)
      .flatMap(({ target }) => (target?.startsWith('.') === true ? [target] : []))
      .map((target) => posix.join(posix.dirname(source.path), target))
      .filter((target) => target.startsWith('src/'));
    graph.set(source.path, new Map(targets.map((target) => [target, source.path])));
  }
  return graph;
}

/** The imports between areas of one layer. A file directly in a layer is a separate node. */
export function areaGraph(files: Graph): Graph {
  const graph = new Map<string, Map<string, string>>();
  for (const [file, targets] of files) {
    for (const target of targets.keys()) {
      const [from, to] = [areaOf(file), areaOf(target)];
      if (from === to || layerOf(from) !== layerOf(to)) continue;
      graph.set(from, (graph.get(from) ?? new Map<string, string>()).set(to, `${file} imports ${target}`));
    }
  }
  return graph;
}

/**
 * The imports between folders of any depth. A folder and one within it are one part, whose files may need each other.
 */
export function folderGraph(files: Graph): Graph {
  const graph = new Map<string, Map<string, string>>();
  for (const [file, targets] of files) {
    for (const target of targets.keys()) {
      const [from, to] = [posix.dirname(file), posix.dirname(target)];
      if (isWithin(from, to) || isWithin(to, from)) continue;
      graph.set(from, (graph.get(from) ?? new Map<string, string>()).set(to, `${file} imports ${target}`));
    }
  }
  return graph;
}

function isWithin(folder: string, other: string): boolean {
  return folder === other || folder.startsWith(`${other}/`);
}

/** `src/store/jobs/claims.ts` is of `src/store/jobs`, and `src/store/store.ts` of itself. */
function areaOf(path: string): string {
  if (TABLES.includes(path)) return path;
  return path.split('/').slice(0, 3).join('/');
}

function layerOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

/** One finding for each import that closes a circle. The search follows each node once. */
export function circles(graph: Graph): Finding[] {
  const found: Finding[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const path: string[] = [];
  const visit = (node: string): void => {
    state.set(node, 'open');
    path.push(node);
    for (const [next, example] of graph.get(node) ?? []) {
      const seen = state.get(next);
      if (seen === undefined) visit(next);
      else if (seen === 'open') {
        const circle = [...path.slice(path.indexOf(next)), next].join(' -> ');
        found.push({ path: node, what: `closes the circle ${circle} (${example})` });
      }
    }
    path.pop();
    state.set(node, 'done');
  };
  for (const node of graph.keys()) if (!state.has(node)) visit(node);
  return found;
}

/** Imports from an area to one of a higher rank in the same layer. */
export function rankFaults(graph: Graph): Finding[] {
  return [...graph].flatMap(([from, targets]) =>
    [...targets].flatMap(([to, example]) => {
      const [low, high] = [rankOf(from), rankOf(to)];
      if (low === undefined || high === undefined || high <= low) return [];
      return [{ path: from, what: `imports ${to}, which is above it (${example})` }];
    }),
  );
}

function rankOf(area: string): number | undefined {
  const name = posix.basename(area);
  const rank = RANKS.findIndex((areas) => areas.includes(name));
  return rank < 0 ? undefined : rank;
}

/** Folders with more than 20 files directly in them. */
export function wideFolders(paths: readonly string[]): Finding[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([path, count]) =>
    count <= FOLDER_FILES_MAX || GROWING.includes(path)
      ? []
      : [{ path, what: `has ${count} files, at most ${FOLDER_FILES_MAX} are allowed` }],
  );
}
