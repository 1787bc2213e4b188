import { Failure } from '../../domain/failure.ts';
import type { Projected } from '../../operations/views/views.ts';
import { readData } from './connection/client.ts';
import type { Session } from './connection/session.ts';
import type { Fields } from './syntax/arguments.ts';
import { inline } from '../text/safe.ts';
import { type OperationCall, operationVerb, TREE } from './syntax/tree.ts';
import { UsageFailure } from './syntax/usage.ts';

/** What a person is asked, and whether an answer lets it go on. */
interface Question {
  readonly text: string;
  isYes(answer: string): boolean;
}

/**
 * What has to be confirmed. Where nobody is there to ask, `refuse` wants --yes, and `go on` takes the command itself
 * as the answer. The question is null where nothing happens that needs one.
 */
interface Confirmation {
  readonly unattended: 'refuse' | 'go on';
  ask(session: Session): Promise<Question | null> | Question | null;
}

const REDRIVE: Confirmation = {
  unattended: 'refuse',
  ask: ({ fields }) =>
    fields['dry_run'] === true
      ? null
      : { text: `Queue every ${states(fields)} job again? [y/N] `, isYes: (answer) => /^y(es)?$/i.test(answer) },
};

function states(fields: Fields): string {
  const given = fields['state'];
  return Array.isArray(given) ? given.join(' or ') : 'interrupted';
}

/**
 * Who approves a plan that destroys something types the name of the workspace, as a yes is typed too easily. To
 * approve is itself the answer that was waited for, so a script is not asked for a second one.
 */
const APPROVE: Confirmation = {
  unattended: 'go on',
  async ask(session) {
    const approval = await read<'approval.get'>(session, 'approval get');
    // What can't be decided any more, the decision itself refuses and says why.
    if (
      approval === null ||
      approval.state !== 'pending' ||
      approval.stale !== undefined ||
      approval.plan_artifact_id === null
    )
      return null;
    const count = (await read<'approval.plan'>(session, 'approval plan'))?.destroys.length;
    const name = approval.workspace ?? approval.id;
    if (count === undefined || count === 0) return null;
    const text =
      `This destroys ${count} ${count === 1 ? 'resource' : 'resources'} in ${inline(name)}. Type ${inline(name)} ` +
      'to approve: ';
    return { text, isYes: (answer) => answer === name };
  },
};

/** What takes everything of a workspace away is never gated: whoever sits at a terminal types its name. */
const DESTROY: Confirmation = byName(
  (name) => `This destroys everything in ${name}, without a second person. Type ${name} to go on: `,
);
const FORGET: Confirmation = byName(
  (name) => `This forgets ${name} and its state, also of resources that are still there. Type ${name} to go on: `,
);

function byName(text: (name: string) => string): Confirmation {
  return {
    unattended: 'go on',
    ask({ fields }) {
      const name = String(fields['name']);
      return { text: text(inline(name)), isYes: (answer) => answer === name };
    },
  };
}

/** Null where there is no such thing or the token may not see it. */
async function read<V extends 'approval.get' | 'approval.plan'>(
  { client, fields }: Session,
  verb: string,
): Promise<Projected<V> | null> {
  try {
    return (await readData(await client.call(operationVerb(TREE, verb).call, { id: fields['id'] })))
      .data as Projected<V>;
  } catch (error) {
    if (error instanceof Failure && (error.code === 'not_found' || error.code === 'forbidden')) return null;
    throw error;
  }
}

function confirmationOf({ operation, preset }: OperationCall, fields: Fields): Confirmation | null {
  if (operation === 'job.redrive') return REDRIVE;
  if (operation === 'workspace.destroy') return DESTROY;
  if (operation === 'workspace.remove' && fields['force'] === true) return FORGET;
  return operation === 'approval.decision' && preset?.['decision'] === 'approve' ? APPROVE : null;
}

/**
 * Resolves once it may go on. Throws UsageFailure where somebody said no, or nobody is there to ask and --yes is
 * needed.
 */
export async function requireConfirmation(session: Session, call: OperationCall): Promise<void> {
  const { terminal, options, verb } = session;
  const confirmation = confirmationOf(call, session.fields);
  if (confirmation === null || options.yes) return;
  if (options.noInput && confirmation.unattended === 'go on') return;
  const question = await confirmation.ask(session);
  if (question === null) return;
  const hint = verb.flags.some((flag) => flag.name === 'dry-run')
    ? `svc ${verb.path} --dry-run`
    : `svc ${verb.path} --help`;
  if (options.noInput) throw new UsageFailure(`svc ${verb.path}: this needs a confirmation; give --yes.`, hint);
  const { createInterface } = await import('node:readline');
  const reader = createInterface({ input: terminal.stdin, output: terminal.stderr });
  const answer = await new Promise<string>((resolve) => {
    reader.once('close', () => resolve(''));
    reader.question(question.text, resolve);
  });
  reader.close();
  if (!question.isYes(answer.trim()))
    throw new UsageFailure(`svc ${verb.path}: not confirmed, nothing was done.`, hint);
}
