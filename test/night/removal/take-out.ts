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
const IMPORT = /^(?:import|export) (?:type )?(?:\{([^}]*)\}|\*(?: as (\w+))?) from '(\.[^']*)';$/;

/**
 * Takes an area out of a copy of the project: the folders of its name; the tests elsewhere that use it; and in each
 * other file the lines that import from those folders, that use what was imported, or that name the area or have one of
 * the `names` in an array or as a key. Of an array on one line only the element is taken. Paths are relative to the
 * copy.
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
    const isElement = (line: string): boolean =>
      names.some((name) => line.trim() === `'${name}',` || line.trim().startsWith(`${name}: '`));
    const lost = before.filter((line) => isElement(line) || (used.test(line) && !/^\s*(?:\*|\/\/|\/\*\*)/.test(line)));
    if (lost.length === 0) continue;
    if (file.endsWith('.test.ts') && !lost.every(isElement)) {
      rmSync(path);
      taken.tests.push(file);
      continue;
    }
    writeFileSync(path, before.flatMap((line) => (lost.includes(line) ? withoutElement(line, area) : line)).join('\n'));
    taken.lines.push(...lost.map((line) => ({ file, line: line.trim() })));
  }
  return taken;
}

/** The line without the name in its array of names; no line where it is no such array. */
function withoutElement(line: string, area: string): string | [] {
  const others = line.replace(`, '${area}'`, '').replace(`'${area}', `, '');
  return others === line || new RegExp(`\\b${area}\\b`).test(others) || !ARRAY.test(line) ? [] : others;
}

/** What a line imports from where `isThere`; nothing where it is no import of one line. */
function namesFrom(line: string, isThere: (to: string) => boolean): string[] {
  const [, list, whole, from] = IMPORT.exec(line) ?? [];
  if (from === undefined || !isThere(from)) return [];
  const names = (list ?? '').split(',').map((each) => each.trim().replace(/^type /, ''));
  return [...names.map((each) => each.split(' as ').at(-1) ?? ''), whole ?? ''].filter((each) => each !== '');
}
