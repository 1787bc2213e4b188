/** Where the links of a document lead in the console. */
import { posix } from 'node:path';
import { START } from './library.ts';

const OUTSIDE = /^https?:\/\//;

/** The page of a document or of a folder of documents, named by its path below `docs`. */
export function documentPage(path: string): string {
  return path === START ? '/docs' : `/docs/${path}`;
}

/**
 * The address for a link in the document `from`; null where it leads to no document, so that its text is shown alone.
 * `url` is that of a path of the console.
 */
export function addressOf(
  href: string,
  from: string,
  paths: readonly string[],
  url: (path: string) => string,
): string | null {
  if (OUTSIDE.test(href) || href.startsWith('#')) return href;
  const [file = '', anchor] = href.split('#');
  const path = posix.join(posix.dirname(from), file).replace(/\/$/, '');
  if (!paths.includes(path) && !isFolder(path, paths)) return null;
  return url(documentPage(path)) + (anchor === undefined ? '' : `#${anchor}`);
}

export function isFolder(path: string, paths: readonly string[]): boolean {
  return paths.some((each) => each.startsWith(`${path}/`));
}
