/**
 * `npm run canaries`: each fault below this folder is planted in a copy of the tree, and the simulation has to find it.
 *
 *     npm run canaries [-- NAME... --seeds N]
 *
 * A canary is a `.diff` in the folder of its area, whose first line says what is planted; a `.postgres.diff` is looked
 * for on PostgreSQL. It is found when a seed breaks a rule; the number of seeds that this takes is a figure to watch,
 * because one that rises means a blind spot.
 * Exit code 1 where a canary was not found or a diff does not apply, 2 for a wrong option.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { readArguments, refuseArgument } from '../../../scripts/arguments.ts';
import { openCopy } from './copy.ts';
import { type Found, lookFor } from './look.ts';

const USAGE = 'npm run canaries [-- [NAME]... --seeds N]';
/** Each canary must be found within as many seeds. */
const SEEDS_MAX = 2_000;
/** The path of each below this folder, by its name. */
const PATHS = new Map(
  readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.diff'))
    .toSorted()
    .map((path) => [basename(path, '.diff'), path]),
);

const { values, positionals } = readArguments(USAGE, { seeds: { type: 'string', default: String(SEEDS_MAX) } }, true);
const seeds = Number(values.seeds);
if (!Number.isSafeInteger(seeds) || seeds < 1 || seeds > SEEDS_MAX)
  refuseArgument(`--seeds: expected a whole number from 1 to ${SEEDS_MAX}.`, USAGE);
const unknown = positionals.find((name) => !PATHS.has(name));
if (unknown !== undefined)
  refuseArgument(`There is no ${unknown}; expected some of ${[...PATHS.keys()].join(', ')}.`, USAGE);
const names = positionals.length === 0 ? [...PATHS.keys()] : positionals;

const COLUMNS = [Math.max(...names.map(({ length }) => length)), 4, 5, 7] as const;
printRow('canary', 'rule', 'seeds', 'seconds', '');
const copy = openCopy();
let lost = 0;
try {
  for (const name of names) {
    const found = lookFor(copy, PATHS.get(name) ?? '', seeds);
    if (found.rule === null) lost += 1;
    show(name, found);
  }
} finally {
  copy.close();
}
console.log(lost === 0 ? `All ${names.length} were found.` : `${lost} of ${names.length} were not found.`);
process.exit(lost === 0 ? 0 : 1);

function show(name: string, { rule, seeds: needed, seconds, what }: Found): void {
  printRow(name, rule ?? '-', String(needed), seconds.toFixed(1), what);
}

function printRow(...[name, rule, needed, seconds, what]: readonly [string, string, string, string, string]): void {
  const [first, second, third, fourth] = COLUMNS;
  const cells = [name.padEnd(first), rule.padEnd(second), needed.padStart(third), seconds.padStart(fourth), what];
  console.log(cells.join('  ').trimEnd());
}
