/** Files that pages load, under names that change with their content, so that a browser may keep them for ever. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { packageFile, programEntry, programFile } from '../../../lib/files/program-files.ts';
import { joinedScript } from './joined-script.ts';

export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

const STYLE: Asset = asset('console', 'css', 'text/css; charset=utf-8', styleText());

/** A classic script: what it changes pages with comes first. */
const SCRIPT: Asset = asset('console', 'js', 'text/javascript; charset=utf-8', scriptText());

const ICON: Asset = icon('icon');
/** While something waits for a decision. */
const WAITING_ICON: Asset = icon('icon-waiting');

export const STYLE_PATH = STYLE.path;
export const SCRIPT_PATH = SCRIPT.path;
export const ICON_PATH = ICON.path;
export const WAITING_ICON_PATH = WAITING_ICON.path;
export const ASSETS: readonly Asset[] = [STYLE, SCRIPT, ICON, WAITING_ICON];

/** Read and joined once, when the program starts. */
function styleText(): string {
  return ['base', 'parts', 'live', 'pages', 'media']
    .map((name) => read(programFile(`faces/web/console/style/${name}.css`)))
    .join('');
}

function scriptText(): string {
  const file = programEntry('faces/web/client/console');
  // A bundle has it joined: what removes types takes 10 MB of memory.
  const own = file.endsWith('.ts') ? joinedScript(file) : read(file);
  return `${read(packageFile('idiomorph/dist/idiomorph.min.js'))}\n(() => {\n${own}\n})();\n`;
}

function icon(name: string): Asset {
  return asset(name, 'svg', 'image/svg+xml', read(programFile(`faces/web/console/${name}.svg`)));
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

function asset(name: string, ending: string, contentType: string, body: string): Asset {
  return { path: `/assets/${name}.${hash('sha256', body).slice(0, 12)}.${ending}`, contentType, body };
}
