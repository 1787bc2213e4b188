/** Files of a run are reached by descriptor: who may import the file system in the folders that work on runs. */
import { importsOf } from './folders/layers.ts';
import { finding, isTest, type SourceRule } from './source.ts';

/** Folders whose files have run directories in hand. */
const WORKS_ON_RUNS = ['src/runners/', 'src/daemon/'];
/** Opens, reads, changes and removes files of a run, each from the descriptor of its folder. */
const DOOR = 'src/runners/run-files/';

/** Files of those folders that use paths all the same, and why no program of a run can lead them elsewhere. */
export const PATH_USERS: Readonly<Record<string, string>> = {
  'src/daemon/core/identity.ts': 'looks for processes in /proc',
  'src/daemon/core/lock-file.ts': 'reads and sets the times of lock files of daemons and removes them, outside of runs',
  'src/runners/process/lease-times.ts':
    'writes, reads and removes files of leases beside the lock files, outside of runs',
  'src/daemon/jobs/rescue.ts': 'lists the folder of all runs, which only the service writes',
  'test/support/store/job-store.ts': 'makes folders for tests',
  'src/daemon/backups/run-support.ts': 'removes files of the folder of backups, which no run may write',
  'src/runners/backups/backup.ts': 'writes in folders that only the service writes, outside of run directories',
  'src/runners/run-dir.ts': 'makes and removes entries of the folder of all runs, addressed from its descriptor',
  'src/runners/checkout/copy-target.ts': 'writes into a new run directory before the first program of the run starts',
  'src/runners/account/owner-account.ts': 'reads the user database',
  'src/runners/checkout/copy-source.ts':
    'opens entries of a source by descriptors before the first program of the run starts',
  'src/runners/checkout/open-tree.ts':
    'looks at a directory of the machine that is open, from the root on, part by part and without following a link',
  'src/runners/checkout/copy-tree.ts':
    'copies a tree into a new run directory before the first program of the run starts',
  'src/runners/checkout/erase.ts':
    'makes and removes entries of a folder of the service, addressed from its descriptor',
  'src/runners/checkout/git/git.ts':
    'writes a checkout in the data directory, and adds up the sizes of what git wrote without opening a file',
  'src/runners/checkout/git/place.ts': 'makes the folder of git before git is started, and never opens one afterwards',
  'src/runners/checkout/git/tree.ts': 'writes a checkout in the data directory, which no run may write',
  'src/runners/checkout/git/access.ts':
    'looks for programs and for files of the account that git needs, outside of runs',
  'src/runners/checkout/git/objects.ts':
    'reads and writes a fetched repository in the data directory, which no run may write',
  'src/runners/checkout/hooks-file.ts': 'names the flag of reading; it opens entries by descriptors',
  'src/runners/checkout/source-trees.ts': 'works in the checkouts of the data directory, which no run may write',
  'src/runners/vendor/vendored-files.ts': 'works in a folder beside the run directories, which no run may write',
  'src/runners/checkout/copy-whole.ts': 'names the flag of reading, and writes to open files; it opens by descriptors',
  'src/runners/terraform/init/kept-inits.ts': 'works in a folder beside the run directories, which no run may reach',
  'src/runners/terraform/init/kept-run.ts': 'looks at the file of the tool, outside of runs',
  'src/runners/vendor/collect.ts': 'names the flag of reading; it opens entries by descriptors',
  'src/runners/bounds/cgroup.ts': 'reads and writes control groups, which no sandboxed run may write',
  'src/runners/bounds/delegated-group.ts': 'reads and writes control groups, which no sandboxed run may write',
  'src/runners/bounds/sampled.ts': 'reads /proc',
  'src/runners/bounds/usage.ts': 'reads /proc',
  'src/runners/bounds/urgency.ts': 'writes one file of its process in /proc',
  'src/runners/process/descent.ts': 'reads /proc',
  'src/runners/process/end-account.ts': 'reads /proc',
  'src/runners/process/held-output.ts': 'opens the output pipes of a process below /proc',
  'src/runners/sandbox/mark.ts': 'reads /proc',
  'src/runners/sandbox/landlock-facts.ts': 'reads /proc and /sys',
  'src/runners/sandbox/outside.ts':
    'opens directories of the machine from the root on, part by part and without following a link',
  'src/runners/shared-memory/owned-names.ts':
    'lists /dev/shm, a folder of root, and looks at the owners and sizes of its files',
  'src/runners/shared-memory/used-files.ts': 'reads /proc, and looks at open files by descriptors',
  'src/runners/process/lean.ts': 'reads its own memory map',
  'src/runners/process/process-table.ts': 'reads /proc',
  'src/runners/launch/children.ts': 'reads /proc',
  'src/runners/launch/confine.ts': 'looks at the paths of a policy: the system, and run directories themselves',
  'src/runners/launch/connections.ts': 'closes pipes',
  'src/runners/launch/machine.ts': 'opens /dev/null',
  'src/runners/launch/tool.ts': 'reads and writes /proc',
  'src/runners/process/term-once.ts': 'works in a folder beside the run directory, which no run may write',
  'src/runners/terraform/tool.ts': 'looks for a program in the folders of PATH',
  'src/runners/ansible/tool.ts': 'looks for a program in the folders of PATH, and reads its first line',
  'src/runners/ansible/inputs.ts': 'reads a file of the program',
};

const FILE_SYSTEM = /^(?:node:)?fs(?:\/promises)?$/;

export const fileAccessRule: SourceRule = {
  why:
    'A program of a run can exchange any folder below its run directory for a link between a check and its use. ' +
    'Use src/runners/run-files; a file that never touches what a run can write is named with its reason in ' +
    'test/tidy/file-access.ts.',
  find(source) {
    const { path } = source;
    const isFree = isTest(path) || path.startsWith(DOOR) || Object.hasOwn(PATH_USERS, path);
    if (isFree || !WORKS_ON_RUNS.some((folder) => path.startsWith(folder))) return [];
    return importsOf(source).flatMap(({ node, target }) =>
      FILE_SYSTEM.test(target ?? '') ? [finding(source, node, `imports ${target}`)] : [],
    );
  },
};
