/**
 * `npm run bundle`: the program as files of JavaScript in `dist`, which starts in half the time of the sources and
 * takes two thirds of their memory. `dist` has the paths of `src`: one file for the servers, one for each further
 * process or thread (`...-child.ts`, `...-thread.ts`), and the command in chunks.
 */
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { readMigrations } from '../src/store/engine/migration.ts';
import { WHOLE_SCHEMA, wholeSchema } from '../src/store/engine/sqlite/whole-schema.ts';
import { joinedScript } from '../src/faces/console/joined-script.ts';
import { readArguments } from './arguments.ts';

const ROOT = join(import.meta.dirname, '..');
/** Where `npm pack` takes it from. */
export const BUNDLE = join(ROOT, 'dist');
/** Each becomes one file, which needs no other: an upgrade may replace the files of a daemon that runs. */
const WHOLE = ['src/server.ts', 'src/**/*-child.ts', 'src/**/*-thread.ts'];
/** Becomes a small file, and chunks that are loaded when they are needed. */
const COMMAND = 'src/main.ts';
/** Read or run as they are, by this program or others. */
const ASSETS = ['src/**/*.py', 'src/**/*.css', 'src/**/*.svg'];
/** Scripts that are served: a bundle has them as browsers get them. */
const SCRIPTS = ['console', 'push/devices', 'push/worker'].map((name) => `src/faces/web/client/${name}.ts`);
/** Files of packages that are served as they are. */
const VENDORED = ['idiomorph/dist/idiomorph.min.js'];
/** Packages in the old module format ask for node's own modules by a function of that name. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
const TARGET = 'node26';
/** A faster driver that pg uses where somebody has installed it. */
const NOT_OURS = ['pg-native'];

/**
 * Puts the bundle into `folder`. A file that is right stays untouched, so that tests which run at the same time can
 * share it. Rejects where a source does not compile.
 */
export async function bundle(folder: string): Promise<void> {
  const command = await code([COMMAND], true);
  const whole = await code(globSync(WHOLE, { cwd: ROOT }).toSorted(), false);
  assertDefaultImports(whole.metafile);
  assertPartsOfZod(whole.metafile);
  const files = new Map<string, Uint8Array>();
  for (const { path, text } of [...command.outputFiles, ...whole.outputFiles])
    files.set(relative(BUNDLE, path), Buffer.from(inAscii(text)));
  for (const asset of globSync(ASSETS, { cwd: ROOT }))
    files.set(relative('src', asset), readFileSync(join(ROOT, asset)));
  for (const script of SCRIPTS)
    files.set(relative('src', script).replace(/ts$/, 'js'), Buffer.from(joinedScript(join(ROOT, script))));
  for (const file of VENDORED) files.set(join('packages', file), readFileSync(join(ROOT, 'node_modules', file)));
  files.set(WHOLE_SCHEMA, Buffer.from(wholeSchema(readMigrations(join(ROOT, 'migrations', 'sqlite')))));
  files.set('THIRD-PARTY-LICENSES', Buffer.from(licences(whole.metafile)));
  for (const [name, content] of files) replaceFile(join(folder, name), content);
}

/** Names are those of `BUNDLE`: a bundle is the same wherever it is put. */
function code(entryPoints: string[], splitting: boolean) {
  return build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir: BUNDLE,
    outbase: 'src',
    bundle: true,
    splitting,
    format: 'esm',
    platform: 'node',
    target: TARGET,
    chunkNames: 'chunk-[hash]',
    external: NOT_OURS,
    plugins: [englishOnly, serverApart],
    // V8 keeps the text of each file. Names stay readable in the stack of an error.
    minifyWhitespace: true,
    banner: { js: REQUIRE },
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
}

/** What the first file of the command imports for a verb that stays is beside it. */
const serverApart: Plugin = {
  name: 'server-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/server\.ts$/ }, ({ importer }) =>
      importer === join(ROOT, COMMAND) ? { path: './server.js', external: true } : undefined,
    );
  },
};

/** The messages of zod in other languages are a third of it, and nothing shows them. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup(build) {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * A text with one character that is not ASCII takes two bytes for each. esbuild writes escapes for them but in patterns
 * and templates.
 */
function inAscii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A package in the old module format has one export in a chunk, `default`; run from the sources it has all names. */
function assertDefaultImports({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { path, kind, original } of imports) {
      if (kind !== 'dynamic-import' || original === undefined || inputs[path]?.format !== 'cjs') continue;
      if (!readFileSync(join(ROOT, file), 'utf8').includes(`{ default: ${original} } = await import('${original}')`))
        throw new Error(`${file}: import only the default of ${original}`);
    }
}

/** 150 KB of zod, which nothing uses, are left out only where each file imports it as `* as z`. */
function assertPartsOfZod({ inputs, outputs }: Metafile): void {
  const unused = 'node_modules/zod/v4/classic/from-json-schema.js';
  if (inputs[unused] === undefined) throw new Error(`zod has no ${unused}: name another file that nothing uses`);
  if (Object.values(outputs).some((output) => (output.inputs[unused]?.bytesInOutput ?? 0) > 0))
    throw new Error("a file imports { z } from 'zod': write import * as z");
}

/** In one rename, and only where it differs. */
function replaceFile(file: string, content: Uint8Array): void {
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, content);
  renameSync(fresh, file);
}

/** The licence of each package that is in the bundle: most of them ask to be passed on with the code. */
function licences(...bundled: readonly Metafile[]): string {
  const files = [
    ...bundled.flatMap(({ inputs }) => Object.keys(inputs)),
    ...VENDORED.map((file) => join('node_modules', file)),
  ];
  const folders = files.flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(folders)].toSorted().map(licence).join('\n');
}

/** The name, and the text where the package brings one. */
function licence(folder: string): string {
  const facts = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<string, string>;
  const file = readdirSync(join(ROOT, folder)).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? '' : `\n${readFileSync(join(ROOT, folder, file), 'utf8').trim()}\n`;
  return `${facts['name']} ${facts['version']}, ${facts['license']}\n${text}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readArguments('npm run bundle', {});
  // Of an older bundle nothing may be packed.
  rmSync(BUNDLE, { recursive: true, force: true });
  await bundle(BUNDLE);
}
