import type { Session } from './session.ts';
import type { Fields } from './arguments.ts';
import { UsageFailure } from './usage.ts';

/** Operations that a person has to confirm, and what they are asked; null where nothing happens that needs it. */
const QUESTIONS: Readonly<Record<string, (fields: Fields) => string | null>> = {
  'job.redrive': (fields) => (fields['dry_run'] === true ? null : `Queue every ${states(fields)} job again?`),
};

function states(fields: Fields): string {
  const given = fields['state'];
  return Array.isArray(given) ? given.join(' or ') : 'interrupted';
}

/** Resolves once it may go on. Throws UsageFailure that names --yes where nobody is there to ask, or said no. */
export async function requireConfirmation({ terminal, options, fields, verb }: Session, operation: string): Promise<void> {
  const question = QUESTIONS[operation]?.(fields) ?? null;
  if (question === null || options.yes) return;
  const hint = verb.flags.some((flag) => flag.name === 'dry-run') ? `svc ${verb.path} --dry-run` : `svc ${verb.path} --help`;
  if (options.noInput) throw new UsageFailure(`svc ${verb.path}: this needs a confirmation; give --yes.`, hint);
  const { createInterface } = await import('node:readline');
  const reader = createInterface({ input: terminal.stdin, output: terminal.stderr });
  const answer = await new Promise<string>((resolve) => {
    reader.once('close', () => resolve(''));
    reader.question(`${question} [y/N] `, resolve);
  });
  reader.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageFailure(`svc ${verb.path}: not confirmed, nothing was done.`, hint);
}
