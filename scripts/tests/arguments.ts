/** The arguments of `npm test` and `npm run proof`. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { printUsage, WrongArgument } from '../arguments.ts';
import type { SuiteName } from './suites.ts';

const OPTIONS = '[--update-golden] [--on-tofu] [--on-sources] [--left-out=LIST] [--test-...=...]';
export const USAGE = `npm test [-- ${OPTIONS} [FILE|FOLDER]...]
       npm run proof [-- [--with=LIST] ...]`;

const FLAGS = ['--proof', '--update-golden', '--on-tofu', '--on-sources'];
const [LEFT_OUT, WITH, FOR_NODE] = ['--left-out=', '--with=', '--test-'] as const;
const OPENINGS = [LEFT_OUT, WITH, FOR_NODE];
const PACKAGES = '**/node_modules/**';
const TESTS = '*.test.ts';

export interface Arguments {
  readonly suite: SuiteName;
  readonly updateGolden: boolean;
  readonly onTofu: boolean;
  readonly onSources: boolean;
  /** Where to list the files of tests that were left out for what the machine lacks, one a line. */
  readonly leftOut: string | null;
  /** The files of such a list, paths from the root, beside those of the suite. */
  readonly others: readonly string[];
  readonly forNode: readonly string[];
  /** Paths from the root. */
  readonly files: readonly string[];
}

/** Throws WrongArgument; `--help` ends the process. Names of files are from the working directory. */
export function parseArguments(args: readonly string[], root: string): Arguments {
  printUsage(USAGE);
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--');
  const unknown = flags.find((flag) => !FLAGS.includes(flag) && !OPENINGS.some((each) => flag.startsWith(each)));
  if (unknown !== undefined) throw new WrongArgument(`Unknown option '${unknown}'.`);
  return {
    suite: flags.includes('--proof') ? 'proof' : 'test',
    updateGolden: flags.includes('--update-golden'),
    onTofu: flags.includes('--on-tofu'),
    onSources: flags.includes('--on-sources'),
    leftOut: valueOf(flags, LEFT_OUT),
    others: linesOf(valueOf(flags, WITH)),
    forNode: flags.filter((flag) => flag.startsWith(FOR_NODE)),
    files: [...new Set(args.filter((arg) => !arg.startsWith('-')).flatMap((arg) => testsOf(arg, root)))],
  };
}

function valueOf(flags: readonly string[], opening: string): string | null {
  return flags.find((flag) => flag.startsWith(opening))?.slice(opening.length) ?? null;
}

function linesOf(list: string | null): string[] {
  return list === null ? [] : readFileSync(list, 'utf8').split('\n').filter(Boolean);
}

/** The tests that a pattern, a file or a folder names. */
function testsOf(named: string, root: string): string[] {
  const found = globSync(named, { exclude: [PACKAGES] });
  if (found.length === 0) throw new WrongArgument(`There is no test file ${named}.`);
  const files = found.flatMap((each) => (statSync(each).isDirectory() ? testsIn(each) : each));
  if (files.length === 0) throw new WrongArgument(`There is no test in the folder ${named}.`);
  const other = files.find((file) => !file.endsWith(TESTS.slice(1)));
  if (other !== undefined)
    throw new WrongArgument(`${other} is not a test: the name of one ends in ${TESTS.slice(1)}.`);
  return files.toSorted().map((file) => relative(root, resolve(file)));
}

function testsIn(folder: string): string[] {
  return globSync(`**/${TESTS}`, { cwd: folder, exclude: [PACKAGES] }).map((file) => join(folder, file));
}
