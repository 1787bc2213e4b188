import type { LauncherFailed, LaunchProblem } from './protocol.ts';

/** The sandbox could not be set up, or the launcher failed: the tool never started. */
export class SandboxRefused extends Error {
  override readonly name: string = 'SandboxRefused';
}

/** There is no such command; a shell would exit 127. The tool never started. */
export class CommandNotFound extends Error {
  override readonly name: string = 'CommandNotFound';
}

/** There is such a file, but it can't be executed (no permission, no program); a shell would exit 126. */
export class CommandNotExecutable extends Error {
  override readonly name: string = 'CommandNotExecutable';
}

/** What `started` rejects with. */
type LaunchError = SandboxRefused | CommandNotFound | CommandNotExecutable;

const CLASS_OF = {
  refused: SandboxRefused,
  not_found: CommandNotFound,
  not_executable: CommandNotExecutable,
} as const satisfies Record<LaunchProblem, new (message: string) => LaunchError>;

export function launchError(failed: LauncherFailed): LaunchError {
  return new CLASS_OF[failed.problem](`The tool never started: ${failed.error}.`);
}
