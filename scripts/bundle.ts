/**
 * `npm run bundle`: the program as files of JavaScript in `dist`, which starts in half the time of the sources and
 * takes two thirds of their memory. `dist` has the paths of `src`: one script for the servers, one file for each
 * further process or thread (`...-child.ts`, `...-thread.ts`), and the command in chunks.
 */
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Metafile, type OutputFile, type Plugin, transform } from 'esbuild';
import { readMigrations } from '../src/store/engine/migration.ts';
import { WHOLE_SCHEMA, wholeSchema } from '../src/store/engine/sqlite/whole-schema.ts';
import { joinedScript } from '../src/faces/web/console/joined-script.ts';
import { readArguments } from './arguments.ts';

const ROOT = join(import.meta.dirname, '..');
/** Where `npm pack` takes it from. */
export const BUNDLE = join(ROOT, 'dist');
/** Becomes one file, as its compiled form is kept. */
const SERVERS = 'src/server.ts';
/** Each becomes one file. */
const WHOLE = ['src/server-script.ts', 'src/**/*-child.ts', 'src/**/*-thread.ts'];
/** Becomes a small file, and chunks that are loaded when they are needed. */
const COMMAND = 'src/main.ts';
/** Read or run as they are, by this program or others. */
const ASSETS = ['src/**/*.py', 'src/**/*.css', 'src/**/*.svg'];
/** Scripts that are served: a bundle has them as browsers get them. */
const SCRIPTS = ['console', 'push/devices', 'push/worker'].map((name) => `src/faces/web/client/${name}.ts`);
/** Files of packages that are served as they are. */
const VENDORED = ['idiomorph/dist/idiomorph.min.js'];
/** Packages in the old module format ask for node's own modules by a function of that name; one chunk looks for it. */
const REQUIRE = "var require = process.getBuiltinModule('node:module').createRequire(import.meta.url);\n";
const ASKS_FOR_REQUIRE = 'typeof require ';
const TARGET = 'node26';
/** A faster driver that pg uses where somebody has installed it. */
const NOT_OURS = ['pg-native'];

/**
 * Puts the bundle into `folder`. A file that is right stays untouched, so that tests which run at the same time can
 * share it. Rejects where a source does not compile.
 */
export async function bundle(folder: string): Promise<void> {
  const command = await code([COMMAND], true);
  const chunks = await code([SERVERS], true);
  const servers = await joined(chunks.outputFiles);
  const whole = await code(globSync(WHOLE, { cwd: ROOT }).toSorted(), false);
  for (const { metafile } of [chunks, whole]) assertDefaultImports(metafile);
  assertPartsOfZod(chunks.metafile);
  const files = new Map<string, Uint8Array>();
  for (const { path, text } of [...command.outputFiles, ...servers.outputFiles, ...whole.outputFiles]) {
    const name = asModules(relative(BUNDLE, path));
    const short = await shorter(quickly(asModules(text)));
    files.set(name, Buffer.from(OWN_FORM[name]?.(short) ?? short));
  }
  for (const asset of globSync(ASSETS, { cwd: ROOT }))
    files.set(relative('src', asset), readFileSync(join(ROOT, asset)));
  for (const script of SCRIPTS)
    files.set(relative('src', script).replace(/ts$/, 'js'), Buffer.from(joinedScript(join(ROOT, script))));
  for (const file of VENDORED) files.set(join('vendor', file), readFileSync(join(ROOT, 'node_modules', file)));
  files.set(WHOLE_SCHEMA, Buffer.from(wholeSchema(readMigrations(join(ROOT, 'migrations', 'sqlite')))));
  files.set('THIRD-PARTY-LICENSES', Buffer.from(licences(chunks.metafile, whole.metafile)));
  for (const [name, content] of files) replaceFile(join(folder, name), content);
}

type Entries = NonNullable<BuildOptions['entryPoints']>;

/** Names are those of `BUNDLE`: a bundle is the same wherever it is put. */
function code(entryPoints: Entries, splitting: boolean, plugins: Plugin[] = [englishOnly, serverApart]) {
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
    plugins,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
}

/**
 * The chunks of the servers as one file. esbuild wraps in a function each module that an import at run time may reach,
 * and cuts nothing from what it wraps. From a chunk, which was made before, unused code is cut already.
 */
function joined(chunks: readonly OutputFile[]) {
  return code([{ in: join(BUNDLE, 'server.js'), out: 'server' }], false, [among(chunks)]);
}

/** Imports of files that are on no disk yet. */
function among(files: readonly OutputFile[]): Plugin {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return {
    name: 'among',
    setup(build) {
      build.onResolve({ filter: /^[./]/ }, ({ path, resolveDir }) => ({ path: resolve(resolveDir, path) }));
      build.onLoad({ filter: /^/ }, ({ path }) => {
        const contents = texts.get(path);
        return contents === undefined ? { errors: [{ text: `${path} is no chunk` }] } : { contents };
      });
    },
  };
}

/** What the first file of the command imports for a verb that stays is beside it. */
const serverApart: Plugin = {
  name: 'server-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/server(-script)?\.ts$/ }, ({ path, importer }) =>
      importer === join(ROOT, COMMAND) ? { path: path.replace('.ts', '.mjs'), external: true } : undefined,
    );
    // The rest of the program has this too. A second copy keeps the first file without a chunk.
    build.onResolve({ filter: /\/closed\.ts$/ }, ({ path, importer, resolveDir }) =>
      importer === join(ROOT, COMMAND) ? { path: resolve(resolveDir, path), suffix: '?first' } : undefined,
    );
  },
};

/** Files that are not left as esbuild makes them. */
const OWN_FORM: Readonly<Record<string, (text: string) => string>> = {
  // Its compiled form is kept.
  'server.js': asScript,
  'main.js': withoutChunk,
};

/** esbuild imports the chunk of its helper functions also where none of them is used. A server needs no chunk. */
function withoutChunk(text: string): string {
  const own = text.replace(/\bimport"\.\/chunk-[A-Z0-9]{8}\.mjs";/, '');
  if (/\bimport\b[^(;]*"\.\/chunk-/.test(own)) throw new Error('the first file needs a chunk, and so does a server');
  return own;
}

/** A module as a script whose value is a function of the place of the file; it answers what the module exports. */
function asScript(text: string): string {
  const [, exported] = /export\{(\w+)\};\s*$/.exec(text) ?? [];
  if (exported === undefined) throw new Error('the program of the servers must export one function');
  const body = text
    .replace(/export\{\w+\};\s*$/, `return{${exported}};`)
    .replaceAll('import.meta.filename', '__file')
    .replaceAll('import.meta.url', '__url');
  if (body.includes('import.meta.')) throw new Error('the script of the servers knows its own place and no more');
  return `(function(__file,__url){"use strict";${body}})`;
}

/** For a file of this ending Node looks for no package.json, which took a tenth of the start of a verb. */
function asModules(text: string): string {
  return text.replaceAll(/\bchunk-[A-Z0-9]{8}\.js\b|^server-script\.js$/g, (name) => name.replace(/js$/, 'mjs'));
}

const BUILTIN_IMPORT = /^import (?:(\w+)|\* as (\w+)|\{([^{}]*)\}) from "(node:[\w/]+)";$/gm;

/**
 * An import of a module of Node reads each of its members, and so loads what most of them load only when they are used:
 * web cryptography, streams of files. A tenth of the start of a verb. Like imports they stand before all code.
 */
function quickly(text: string): string {
  const modules: string[] = [];
  const own = text.replaceAll(BUILTIN_IMPORT, (...match: (string | undefined)[]) => {
    const [, standard, all, names = '', module] = match;
    const bound = standard ?? all ?? `{${names.replaceAll(' as ', ': ')}}`;
    modules.push(`var ${bound} = process.getBuiltinModule("${module}");\n`);
    return '';
  });
  return modules.join('') + (own.includes(ASKS_FOR_REQUIRE) ? REQUIRE : '') + own;
}

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
 * V8 keeps the text of each file. Names stay readable in the stack of an error; blanks and comments go, and so do other
 * characters than ASCII, as a text with one of them takes two bytes for each. esbuild leaves them in patterns and
 * templates.
 */
async function shorter(text: string): Promise<string> {
  const { code } = await transform(text, { minifyWhitespace: true, target: TARGET, legalComments: 'none' });
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
