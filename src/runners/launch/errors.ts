import { getSystemErrorName } from 'node:util';
import type { CallList } from './records.ts';
import { EXECUTING, WAITING } from './steps.ts';

/** The sandbox could not be set up, or the process failed before it was the tool: the tool never started. */
export class SandboxRefused extends Error {
  override readonly name: string = 'SandboxRefused';
  readonly exitCode: number = 126;
}

/** There is no such command; a shell would exit 127. The tool never started. */
export class CommandNotFound extends Error {
  override readonly name: string = 'CommandNotFound';
  readonly exitCode: number = 127;
}

/** There is such a file, but it can't be executed (no permission, no program); a shell would exit 126. */
export class CommandNotExecutable extends Error {
  override readonly name: string = 'CommandNotExecutable';
  readonly exitCode: number = 126;
}

/** What `started` rejects with. `exitCode` is what a shell would exit with. */
export type LaunchError = SandboxRefused | CommandNotFound | CommandNotExecutable;

const [ENOENT, ENOEXEC, EACCES, ENOTDIR] = [2, 8, 13, 20];

/** The same for readers who do not see the words of the command; undefined where the message has none of them. */
export function wordlessReason(error: unknown): string | undefined {
  if (error instanceof CommandNotFound) return neverStarted('its command was not found');
  return error instanceof CommandNotExecutable ? neverStarted('its command cannot be executed') : undefined;
}

export function neverStarted(why: string): string {
  return `The tool never started: ${why}.`;
}

/** The reason why the child of this list did not become the tool; null where no call of the list failed. */
export function errorOf(list: CallList, command: string): LaunchError | null {
  const failure = list.failure();
  if (failure === null) return null;
  const { step, error } = failure;
  if (step === EXECUTING) return executionError(list.resultsOf(EXECUTING), command);
  const because = error === EACCES && step.denied !== undefined ? step.denied : `${step.name} failed${nameOf(error)}`;
  return new SandboxRefused(neverStarted(step === WAITING ? 'the order to start it was not given' : because));
}

/** Chooses the error that says most: another one before EACCES, and EACCES before a missing file. */
function executionError(results: readonly number[], command: string): LaunchError {
  // The last result is that of the call without a number, behind the last folder of PATH.
  const errors = results.slice(0, -1).flatMap((result) => (result < 0 ? [-result] : []));
  const said = errors.filter((error) => error !== ENOENT && error !== ENOTDIR);
  const refusal = said.find((error) => error !== EACCES) ?? said.at(-1);
  // The kernel has one error for both.
  const missing = command.includes('/') ? 'or the interpreter in its first line was not found' : 'was not found';
  if (refusal === undefined) return new CommandNotFound(neverStarted(`the command ${command} ${missing}`));
  if (refusal === ENOEXEC)
    return new CommandNotExecutable(neverStarted(`${command} is no program for this machine and names no interpreter`));
  // A folder of PATH that the job may not enter refuses as a file does that it may not execute.
  const orMissing = command.includes('/') ? '' : ', or was not found, as a folder of PATH may not be entered';
  if (refusal === EACCES)
    return new CommandNotExecutable(neverStarted(`the command ${command} may not be executed${orMissing}`));
  return new CommandNotExecutable(neverStarted(`executing ${command} failed${nameOf(refusal)}`));
}

function nameOf(error: number): string {
  return error === 0 ? '' : ` (${getSystemErrorName(-error)})`;
}
