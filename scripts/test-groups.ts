/**
 * Test files that share a process. Node starts one for each file, and loading the program takes most of the processor
 * time of many: in groups more than 200 of them need half of it, which is 7 minutes on a slow core.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folders whose tests leave nothing behind in their process. Those of `src/runners` look at their child processes. */
const FOLDERS = [
  'src/app',
  'src/config',
  'src/daemon',
  'src/dial',
  'src/doctor',
  'src/domain',
  'src/faces',
  'src/lib',
  'src/operations',
  'src/probes',
  'src/push',
  'src/reaction',
  'src/store',
  'test/api',
  'test/console',
  'test/mcp',
  'test/text',
];

/**
 * Files of a group: few enough that the group which ends last keeps no processor waiting long, and that what one file
 * changes for the others of its group is found soon.
 */
const GROUP_MAX = 12;

/** What measures its process, or looks at what it loads, needs a separate one. */
const MEASURES = /\/measure\/(?!patience)|\b(?:globalThis\.gc|registerHooks|moduleLoadList|umask|chdir|\w+Usage)\b/;
const LOADING = /(?:^|\/)loading\.test\.ts$/;
/** A hook outside of a suite would be one of the whole group. */
const OWN_HOOKS = /^(?:before|after)(?:Each)?\(/m;

/**
 * The files to run in place of `files` (paths from `root`): one for each group, written into `folder`, and the rest as
 * they are. A failure still names the file and line of its test.
 */
export function inGroups(files: readonly string[], root: string, folder: string): string[] {
  const grouped = FOLDERS.flatMap((name) => {
    const members = files.filter((file) => file.startsWith(`${name}/`) && mayShare(file, root));
    const count = Math.ceil(members.length / GROUP_MAX);
    const size = Math.ceil(members.length / Math.max(1, count));
    return Array.from({ length: count }, (_, n) => ({ name, n, members: members.slice(n * size, (n + 1) * size) }));
  });
  const shared = new Set(grouped.flatMap(({ members }) => members));
  const written = grouped.map(({ name, n, members }) => {
    const file = join(folder, `${name.replaceAll('/', '-')}-${n + 1}.test.mjs`);
    const lines = members.map((member) => `import ${JSON.stringify(pathToFileURL(join(root, member)).href)};\n`);
    writeFileSync(file, lines.join(''));
    return file;
  });
  return [...written, ...files.filter((file) => !shared.has(file))];
}

function mayShare(file: string, root: string): boolean {
  const text = readFileSync(join(root, file), 'utf8');
  return ![MEASURES, OWN_HOOKS].some((pattern) => pattern.test(text)) && !LOADING.test(file);
}
