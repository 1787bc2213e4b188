/** Files that pages load, under names that change with their content, so that a browser may keep them for ever. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { programFile } from '../../../lib/files/program-files.ts';

export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

const STYLE: Asset = asset('console', 'css', 'text/css; charset=utf-8', [
  'style/base.css',
  'style/parts.css',
  'style/media.css',
]);

export const STYLE_PATH = STYLE.path;
export const ASSETS: readonly Asset[] = [STYLE];

/** Read and joined once, when the program starts. */
function asset(name: string, ending: string, contentType: string, files: readonly string[]): Asset {
  const body = files.map((file) => readFileSync(programFile(`faces/web/console/${file}`), 'utf8')).join('');
  return { path: `/assets/${name}.${hash('sha256', body).slice(0, 12)}.${ending}`, contentType, body };
}
