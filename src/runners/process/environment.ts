import { isRefusedKindVariable } from '../../domain/secrets/variable.ts';
import { userName } from '../../lib/user-name.ts';
import { JOB_ID_VARIABLE } from '../../domain/jobs/job.ts';

/** Where a service finds the system's programs when nothing else is configured. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Unlike plain C it keeps UTF-8 output whole, and unlike en_US.UTF-8 it exists everywhere. */
export const DEFAULT_LANG = 'C.UTF-8';

interface EnvironmentOptions {
  readonly jobId: string;
  /** The working directory of the run; it is HOME and TMPDIR too, so that nothing of it is left anywhere else. */
  readonly runDir: string;
  /** Where the tool works; the run directory by default. */
  readonly cwd?: string;
  /** Whom the tool runs as; the account of this process by default. */
  readonly user?: string;
  readonly path?: string;
  readonly lang?: string;
  /** What the kind of job adds, by name. A name that is set here already, or that loads code, is refused. */
  readonly extra?: Readonly<Record<string, string>>;
}

/**
 * The whole environment of a job's tool, built from nothing: what the daemon was started with never reaches it. Throws
 * on an `extra` that is refused; what a user may name is checked before it comes here.
 */
export function childEnvironment(options: EnvironmentOptions): Record<string, string> {
  const {
    jobId,
    runDir,
    cwd = runDir,
    path = DEFAULT_PATH,
    lang = DEFAULT_LANG,
    extra = {},
    user = userName(),
  } = options;
  const environment: Record<string, string> = {
    PATH: path,
    LANG: lang,
    HOME: runDir,
    TMPDIR: runDir,
    PWD: cwd,
    // The output is no terminal: no colours, no cursor movements, no progress bars.
    TERM: 'dumb',
    USER: user,
    LOGNAME: user,
    [JOB_ID_VARIABLE]: jobId,
  };
  for (const [name, value] of Object.entries(extra)) {
    if (isRefusedKindVariable(name) || name in environment)
      throw new Error(`the variable ${name} cannot be set for a job`);
    environment[name] = value;
  }
  for (const [name, value] of Object.entries(environment)) {
    if (value.includes('\0')) throw new Error(`the variable ${name} holds a NUL`);
  }
  return environment;
}
