/** What each of the commands runs: the folder of a test says which. */
import { globSync } from 'node:fs';

export type SuiteName = 'test' | 'proof';

export interface Suite {
  /** Globs from the root. */
  readonly files: readonly string[];
  readonly leftOut: readonly string[];
  /** On two quick cores with nothing else running. The run is ended after four times as long. */
  readonly budgetMs: number;
  /** A test that takes longer hangs. It is time of a quick machine: see test/support/measure/slowness.ts. */
  readonly testLimitMs: number;
  /** Whether the files of a lane share a process; else each file has a separate one. */
  readonly hasLanes: boolean;
}

const MINUTE_MS = 60_000;
/** Packages that folders of tests install carry tests too. */
const PACKAGES = '**/node_modules/**';

export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  test: {
    files: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    leftOut: ['test/proof/**', 'test/night/**', PACKAGES],
    budgetMs: 5 * MINUTE_MS,
    testLimitMs: MINUTE_MS,
    hasLanes: true,
  },
  proof: {
    files: ['test/proof/**/*.test.ts'],
    leftOut: [PACKAGES],
    budgetMs: 18 * MINUTE_MS,
    testLimitMs: 8 * MINUTE_MS,
    hasLanes: false,
  },
};

/** Files that one process runs, one after another. */
export interface Lane {
  readonly name: string;
  /** Paths from the root. */
  readonly files: readonly string[];
}

/**
 * The lanes of `npm test`, by folders; the first that has the folder of a file gets it. The longest come first, so that
 * no processor waits for the last one.
 */
const LANES: readonly { readonly name: string; readonly folders: readonly string[] }[] = [
  { name: 'stories', folders: ['test/stories'] },
  { name: 'runners', folders: ['src/runners'] },
  { name: 'http', folders: ['test/api/http', 'test/api/access', 'test/api/approvals'] },
  { name: 'api', folders: ['test/api'] },
  { name: 'store', folders: ['test/store', 'src/store'] },
  { name: 'faces', folders: ['src/faces', 'test/console', 'test/mcp', 'test/text'] },
  { name: 'rules', folders: ['src/domain', 'src/reaction', 'src/lib'] },
  { name: 'others', folders: ['src', 'test'] },
];

/**
 * Files of `npm test` in a separate process. The first ones move a clock ahead and make ids at that time: the ids of a
 * process follow each other (src/lib/id.ts), and a file after them would find its own in the future. The last two take
 * the ends of all children, beside the launcher that waits for those of its tools (src/runners/launch/children.ts).
 */
const ALONE = [
  'test/console/week.test.ts',
  'test/store/deadman/watches.test.ts',
  'test/store/events/silences.test.ts',
  'test/store/jobs/retention-clock.test.ts',
  'test/store/jobs/retention-old.test.ts',
  'test/store/jobs/retention.test.ts',
  'test/store/notify/bursts.test.ts',
  'test/store/workspaces/approval-deadlines.test.ts',
  'src/runners/launch/children.test.ts',
  'src/runners/process/tree.test.ts',
];

/**
 * Those of `npm run proof` that take longest, first, so that no processor waits for the last one. The others follow in
 * the order of their paths.
 */
const LONG_FILES = [
  'test/proof/demo/',
  'test/proof/documents/',
  'test/proof/browser/console.test.ts',
  'test/proof/chaos/',
  'test/proof/workspaces/',
  'test/proof/playbooks/',
  'test/proof/store/',
];

/** All files of a suite, and `others`, in the processes that run them. */
export function lanesOf(name: SuiteName, root: string, others: readonly string[] = []): Lane[] {
  const { files: patterns, leftOut, hasLanes } = SUITES[name];
  const found = globSync(patterns, { cwd: root, exclude: leftOut });
  const files = [...new Set([...found, ...others])].toSorted();
  if (!hasLanes) return separately(files.toSorted((a, b) => placeOf(a) - placeOf(b)));
  const taken = new Map<string, string[]>(LANES.map((lane) => [lane.name, []]));
  for (const file of files.filter((each) => !ALONE.includes(each))) {
    const lane = LANES.find(({ folders }) => folders.some((folder) => file.startsWith(`${folder}/`)));
    taken.get(lane?.name ?? '')?.push(file);
  }
  const lanes = Array.from(taken, ([lane, members]) => ({ name: lane, files: members }));
  return [...lanes, ...separately(files.filter((each) => ALONE.includes(each)))];
}

function placeOf(file: string): number {
  const at = LONG_FILES.findIndex((start) => file.startsWith(start));
  return at < 0 ? LONG_FILES.length : at;
}

/** Each file in its own process. */
export function separately(files: readonly string[]): Lane[] {
  return files.map((file) => ({ name: file, files: [file] }));
}
