import { spawn } from 'node:child_process';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { JOB_ID_VARIABLE } from '../../domain/jobs/job.ts';
import type { Clock } from '../../lib/clock.ts';
import { findProgram } from '../../lib/programs/find-program.ts';
import { signalGroup } from '../../lib/programs/process-group.ts';
import { closedPath } from '../../lib/programs/search-path.ts';

/** A version query takes milliseconds, with Ansible a second; a longer one hangs. */
const ANSWER_LIMIT_MS = 5_000;
/** The version is on the first lines; further output is not read. */
const OUTPUT_MAX_BYTES = 16_384;

/** Not even root can make a folder there: a tool finds no files of a user, and leaves none. */
const NO_HOME = '/proc/nonexistent';
/** Ansible ends without a folder for files of its run. It makes one there that is closed to others, and removes it. */
const ANSIBLE_TEMP = '/tmp';
/** Marks the processes of the examination: they belong to no job, and to no stranger. */
const EXAMINATION = 'doctor';

/** The sessions of the tools that are asked now; a tool leads one. */
const asked = new Set<number>();

export interface Tool {
  /** The program on PATH, and its name in the manifest. */
  readonly name: string;
  readonly args: readonly string[];
  /** Finds the version in what the tool printed; its first group is the version. */
  readonly version: RegExp;
}

/** The tools that jobs may need, in the order of the report. All are optional. */
export const TOOLS: readonly Tool[] = [
  { name: 'terraform', args: ['version'], version: /^Terraform v(\d[\w.+-]{0,40})/m },
  { name: 'tofu', args: ['version'], version: /^OpenTofu v(\d[\w.+-]{0,40})/m },
  // `ansible-playbook [core 2.16.3]`, before Ansible 2.11 `ansible-playbook 2.9.27`.
  { name: 'ansible-playbook', args: ['--version'], version: /^ansible-playbook (?:\[core )?(\d[\w.+-]{0,40})/m },
  // On standard error: `OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.14 4 Jun 2024`.
  { name: 'ssh', args: ['-V'], version: /^OpenSSH_(\d[\w.+-]{0,40})/m },
  { name: 'git', args: ['--version'], version: /^git version (\d[\w.+-]{0,40})/m },
  // `ping from iputils 20221126`, before 2020 `ping utility, iputils-s20190709`, of inetutils `ping (GNU inetutils)
  // 2.4`.
  { name: 'ping', args: ['-V'], version: /(?:\biputils[ -]s?|\(GNU inetutils\) )(\d[\w.+-]{0,40})/m },
];

export type ToolAnswer =
  | { readonly kind: 'missing' }
  | { readonly kind: 'version'; readonly version: string }
  /** Found, but its version was not understood. */
  | { readonly kind: 'unparseable' }
  | { readonly kind: 'silent'; readonly limitMs: number }
  | { readonly kind: 'unstartable' };

interface Asking {
  /** PATH; folders that other accounts can change are left out. */
  readonly path: string;
  /** Whom the tool runs as; null is the account of this process. */
  readonly account: AccountIds | null;
  readonly clock: Clock;
}

/** Whether a process is in the session of a tool that is asked now. */
export function isAsked(session: number): boolean {
  return asked.has(session);
}

/**
 * Runs the first program of that name on the path to get its version: in an environment made from nothing, so that code
 * that a user or a job has left in a home directory is not found. Never rejects.
 */
export async function askTool(tool: Tool, asking: Asking): Promise<ToolAnswer> {
  const program = await findProgram(tool.name, asking.path);
  if (program === null) return { kind: 'missing' };
  const output = await run(program, tool.args, asking).catch((): Output => ({ end: 'unstartable', text: '' }));
  if (output.end !== 'ended')
    return output.end === 'late' ? { kind: 'silent', limitMs: ANSWER_LIMIT_MS } : { kind: 'unstartable' };
  const version = tool.version.exec(output.text)?.[1];
  return version === undefined ? { kind: 'unparseable' } : { kind: 'version', version };
}

interface Output {
  readonly end: 'ended' | 'late' | 'unstartable';
  readonly text: string;
}

function environment(path: string): NodeJS.ProcessEnv {
  return {
    [JOB_ID_VARIABLE]: EXAMINATION,
    PATH: closedPath(path),
    HOME: NO_HOME,
    // Python runs a module of the user's own folder before anything else.
    PYTHONNOUSERSITE: '1',
    LC_ALL: 'C.UTF-8',
    // No version check of Terraform over the network.
    CHECKPOINT_DISABLE: '1',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_HOME: NO_HOME,
    ANSIBLE_LOCAL_TEMP: ANSIBLE_TEMP,
  };
}

/** Both streams together, because ssh answers on standard error. The exit code is ignored: some exit 1 after -V. */
function run(program: string, args: readonly string[], { path, account, clock }: Asking): Promise<Output> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const child = spawn(program, args, {
      // Not in the daemon's directory, which may hold ansible.cfg or *.tf.
      cwd: '/',
      env: environment(path),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...account,
    });
    if (child.pid !== undefined) asked.add(child.pid);
    const finish = (end: Output['end'], alive: boolean): void => {
      cancel();
      asked.delete(child.pid ?? 0);
      // Its children too, which may hold its output open.
      if (alive) signalGroup(child.pid, 'SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ end, text: Buffer.concat(chunks).subarray(0, OUTPUT_MAX_BYTES).toString('utf8') });
    };
    const cancel = clock.after(ANSWER_LIMIT_MS, () => finish('late', true));
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= OUTPUT_MAX_BYTES) finish('ended', true);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', () => finish('unstartable', false));
    child.once('close', () => finish('ended', false));
  });
}
