import type { ProgramSession } from '../connection/session.ts';
import type { Terminal } from '../terminal.ts';
import { UsageFailure } from '../syntax/usage.ts';

/** A question, and whether an answer confirms it. */
export interface Question {
  readonly text: string;
  isYes(answer: string): boolean;
}

/** Throws UsageFailure if the answer is no, or if there is no one to ask. */
export async function ask({ terminal, options, verb }: ProgramSession, question: Question): Promise<void> {
  const hint = verb.flags.some((flag) => flag.name === 'dry-run')
    ? `svc ${verb.path} --dry-run`
    : `svc ${verb.path} --help`;
  if (options.noInput) throw new UsageFailure(`svc ${verb.path}: needs a confirmation; use --yes.`, hint);
  if (!question.isYes(await askLine(terminal, question.text)))
    throw new UsageFailure(`svc ${verb.path}: not confirmed; nothing was done.`, hint);
}

/** One line from the terminal, without blanks at its ends; empty at the end of the input. */
export async function askLine({ stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>, text: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  const reader = createInterface({ input: stdin, output: stderr });
  const answer = await new Promise<string>((resolve) => {
    reader.once('close', () => resolve(''));
    reader.question(text, resolve);
  });
  reader.close();
  return answer.trim();
}
