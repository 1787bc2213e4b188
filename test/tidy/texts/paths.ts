/** The paths that documents name. */
import type { Finding, TextFile } from '../source.ts';

export const WHY = 'A path that leads nowhere costs the reader an hour, and his trust in the rest of the page.';

const FOLDERS = '(?:src|test|scripts|bench|docs|bin|\\.ci)';
const ENDINGS = '(?:ts|mts|mjs|js|md|json|sql|sh|css|html)';
/** A path from the root, without placeholders and patterns. */
const PATH = new RegExp(`(?<![\\w./~:$-])${FOLDERS}/[\\w./-]*\\.${ENDINGS}(?![\\w/<*])`, 'g');
/** The kind of job that docs/contributing/add-a-job-kind.md adds. */
const EXAMPLE = /\/noop\//;
/** What happened, with the names of then. */
const HISTORY = /^(?:docs\/decisions\/|CHANGELOG\.md$)/;

/** Of a document: the files of this repository that it names and that are not there. */
export function lostPaths({ path, text }: TextFile, paths: ReadonlySet<string>): Finding[] {
  if (!path.endsWith('.md') || HISTORY.test(path)) return [];
  return text.split('\n').flatMap((line, index) =>
    Array.from(line.matchAll(PATH), ([named]) => named)
      .filter((named) => !paths.has(named) && !EXAMPLE.test(named))
      .map((named) => ({ path, line: index + 1, what: `names ${named}, which is not there` })),
  );
}

export const CONFLICT_WHY = 'A mark that a merge has left hides which of two texts was meant.';
const CONFLICT = /^(?:<{7}|>{7}|\|{7})(?: |$)/;

/** Of any text file. */
export function conflictMarks({ path, text }: TextFile): Finding[] {
  return text
    .split('\n')
    .flatMap((line, index) => (CONFLICT.test(line) ? [{ path, line: index + 1, what: 'has a mark of a merge' }] : []));
}
