/** Files that pages load, under names that change with their content, so that a browser may keep them for ever. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { packageFile, programEntry, programFile } from '../../lib/files/program-files.ts';
import { joinedScript } from './joined-script.ts';

export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
  /** Whether its name stays when its content changes: browsers then ask for it again. */
  readonly isFixed?: true;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

const STYLE: Asset = asset('console', 'css', 'text/css; charset=utf-8', styleText());

/** A classic script: what it changes pages with comes first. */
const SCRIPT: Asset = asset('console', 'js', JAVASCRIPT, scriptText());

const DEVICES_SCRIPT: Asset = asset('devices', 'js', JAVASCRIPT, ownScript('push/devices'));

/** At the base path: a service worker is for what is below it. Browsers compare it with the one that they have. */
const WORKER: Asset = {
  path: '/push-worker.js',
  contentType: JAVASCRIPT,
  body: ownScript('push/worker'),
  isFixed: true,
};

const ICON: Asset = icon('icon');
/** While something waits for a decision. */
const WAITING_ICON: Asset = icon('icon-waiting');

/** For the home screen of a phone. Its URLs are relative to its own, so that they keep the base path. */
const MANIFEST: Asset = asset(
  'manifest',
  'webmanifest',
  'application/manifest+json',
  JSON.stringify({
    name: 'Gatehouse',
    short_name: 'svc',
    start_url: '../approvals',
    scope: '../',
    display: 'standalone',
    icons: [{ src: `..${ICON.path}`, sizes: 'any', type: 'image/svg+xml' }],
  }),
);

export const STYLE_PATH = STYLE.path;
export const SCRIPT_PATH = SCRIPT.path;
export const ICON_PATH = ICON.path;
export const WAITING_ICON_PATH = WAITING_ICON.path;
export const DEVICES_SCRIPT_PATH = DEVICES_SCRIPT.path;
export const WORKER_PATH = WORKER.path;
export const MANIFEST_PATH = MANIFEST.path;
export const ASSETS: readonly Asset[] = [STYLE, SCRIPT, DEVICES_SCRIPT, WORKER, ICON, WAITING_ICON, MANIFEST];

/** Read and joined once, when the program starts. */
function styleText(): string {
  return ['base', 'parts', 'live', 'pages', 'media']
    .map((name) => read(programFile(`faces/console/style/${name}.css`)))
    .join('');
}

function scriptText(): string {
  return `${read(packageFile('idiomorph/dist/idiomorph.min.js'))}\n${ownScript('console')}`;
}

function ownScript(name: string): string {
  const file = programEntry(`faces/web/client/${name}`);
  // A bundle has it joined: what removes types takes 10 MB of memory.
  const text = file.endsWith('.ts') ? joinedScript(file) : read(file);
  return `(() => {\n${text}\n})();\n`;
}

function icon(name: string): Asset {
  return asset(name, 'svg', 'image/svg+xml', read(programFile(`faces/console/${name}.svg`)));
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

function asset(name: string, ending: string, contentType: string, body: string): Asset {
  return { path: `/assets/${name}.${hash('sha256', body).slice(0, 12)}.${ending}`, contentType, body };
}
