import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface Taken {
  /** What was taken out of the lists. */
  readonly lines: readonly { readonly file: string; readonly line: string }[];
  /** Tests of other areas that used this one, which were removed. */
  readonly tests: readonly string[];
}

const CODE = ['src', 'test', 'scripts', 'bench'];
/** An array of names on one line, as prettier writes a short one. */
const ARRAY = /\[(?:'[\w-]+', )*'[\w-]+'\]/;
const COMMENT = /^\s*(?:\*|\/\/|\/\*\*)/;
const TEXT = /'[^']*'|`[^`]*`/g;
const VALUE = /\$\{[^}]*\}/g;
const IMPORT = /^(?:import|export) (?:type )?(?:\{([^}]*)\}|\*(?: as (\w+))?) from '(\.[^']*)';$/;

/**
 * Takes an area out of a copy of the project: the folders of its name; the tests elsewhere that use it; and in each
 * other file the lines that import from those folders, that use what was imported, or that name the area or have one of
 * the `names` in an array, in a union, as a key or as a value. Of an array on one line only the element is taken. Paths
 * are relative to the copy. Migrations stay: they only add, and a table that no area declares is not used.
 */
export function takeOut(copy: string, area: string, names: readonly string[]): Taken {
  const isOfArea = (path: string): boolean => path.split('/').includes(area);
  for (const top of CODE)
    for (const path of readdirSync(join(copy, top), { recursive: true, encoding: 'utf8' }))
      if (path.endsWith(`/${area}`)) rmSync(join(copy, top, path), { recursive: true, force: true });
  const taken: { lines: { file: string; line: string }[]; tests: string[] } = { lines: [], tests: [] };
  for (const file of globSync(
    CODE.map((top) => `${top}/**/*.ts`),
    // The table of what can be taken out is no list of a layer.
    { cwd: copy, exclude: ['test/night/removal/**'] },
  )) {
    const path = join(copy, file);
    const before = readFileSync(path, 'utf8').split('\n');
    const imported = before.flatMap((line) =>
      namesFrom(line, (to) => isOfArea(relative(copy, join(dirname(path), to)))),
    );
    const used = new RegExp(`\\b(?:${[area, ...imported.flat()].join('|')})\\b`);
    const isElement = (line: string): boolean => names.some((name) => isNamed(line.trim(), name));
    const left = (line: string): string | null => {
      const rest = withoutElement(line, [area, ...names]);
      if (isElement(line)) return null;
      return COMMENT.test(rest) || !used.test(withoutSentences(rest)) ? rest : null;
    };
    const lost = before.filter((line) => left(line) !== line);
    if (lost.length === 0) continue;
    if (file.endsWith('.test.ts') && !lost.every(isElement)) {
      rmSync(path);
      taken.tests.push(file);
      continue;
    }
    writeFileSync(path, before.flatMap((line) => left(line) ?? []).join('\n'));
    taken.lines.push(...lost.map((line) => ({ file, line: line.trim() })));
  }
  return taken;
}

/** A line that has nothing else in a list: `'backup',`, `| 'backup'`, `backup: UNCHANGING,`, `b: 'backup',`. */
function isNamed(line: string, name: string): boolean {
  const text = `'${RegExp.escape(name)}'`;
  return new RegExp(`^(?:(?:\\| )?${text}[,;]?|(?:${text}|\\b${RegExp.escape(name)}): .*[,;]|\\w+: ${text},)$`).test(
    line,
  );
}

/** A text with a space is a sentence: it says a word and names nothing. */
function withoutSentences(line: string): string {
  return line.replaceAll(TEXT, (text) => (text.includes(' ') ? (text.match(VALUE) ?? []).join(' ') : text));
}

/** The line without the names in its array of names. */
function withoutElement(line: string, names: readonly string[]): string {
  return line.replace(ARRAY, (array) =>
    names.reduce((left, name) => left.replace(`, '${name}'`, '').replace(`'${name}', `, ''), array),
  );
}

/** What a line imports from where `isThere`; nothing where it is no import of one line. */
function namesFrom(line: string, isThere: (to: string) => boolean): string[] {
  const [, list, whole, from] = IMPORT.exec(line) ?? [];
  if (from === undefined || !isThere(from)) return [];
  const names = (list ?? '').split(',').map((each) => each.trim().replace(/^type /, ''));
  return [...names.map((each) => each.split(' as ').at(-1) ?? ''), whole ?? ''].filter((each) => each !== '');
}
