import { Failure } from '../../domain/failure.ts';
import type { Confirm } from '../../operations/core/cli-face.ts';
import type { Projected } from '../../operations/views/views.ts';
import { readData } from './connection/client.ts';
import type { Session } from './connection/session.ts';
import type { Fields } from './syntax/arguments.ts';
import { ask, type Question } from './question.ts';
import { filled } from './syntax/field-names.ts';
import { inline } from '../text/safe.ts';
import { type OperationCall, operationVerb, TREE } from './syntax/tree.ts';

/** Null if no confirmation is needed. */
async function questionOf(session: Session, confirm: Exclude<Confirm, { by: 'host-keys' }>): Promise<Question | null> {
  const { fields } = session;
  switch (confirm.by) {
    case 'yes':
      if (confirm.preview !== undefined && fields[confirm.preview] === true) return null;
      if (confirm.when !== undefined && fields[confirm.when] !== true) return null;
      return { text: filled(confirm.question, fields), isYes: (answer) => /^y(es)?$/i.test(answer) };
    case 'name': {
      if (confirm.when !== undefined && fields[confirm.when] !== true) return null;
      const name = String(fields['name']);
      return byName(name, filled(confirm.warning, { ...fields, name: inline(name) }), 'go on');
    }
    case 'plan':
      return ofPlan(session);
  }
}

function byName(name: string, warning: string, what: string): Question {
  return { text: `${warning} Type ${inline(name)} to ${what}: `, isYes: (answer) => answer === name };
}

/**
 * The approver of a plan that destroys resources types the name of the workspace, as a yes is typed too easily. To
 * approve is itself a confirmation, so a script is not asked for a second one.
 */
async function ofPlan(session: Session): Promise<Question | null> {
  const approval = await read<'approval.get'>(session, 'approval get');
  // If it can no longer be decided, the decision itself refuses and says why.
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
  return byName(
    name,
    `This destroys ${count} ${count === 1 ? 'resource' : 'resources'} in ${inline(name)}.`,
    'approve',
  );
}

/** Null if it does not exist or the token may not see it. */
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

/**
 * Resolves when the command may continue, with the fields that were confirmed. Throws UsageFailure if the answer is no,
 * or if no one can be asked and --yes is needed.
 */
export async function requireConfirmation(session: Session, call: OperationCall): Promise<Fields> {
  const { fields, options } = session;
  const { confirm } = call;
  if (confirm?.by === 'host-keys') return (await import('./confirm-host-keys.ts')).confirmHostKeys(session, confirm);
  if (confirm === undefined || options.yes) return {};
  // Without a terminal no name can be typed; the command itself counts as the confirmation.
  if (options.noInput && confirm.by !== 'yes') return {};
  const question = await questionOf(session, confirm);
  if (question === null) return {};
  if (confirm.by === 'yes' && confirm.preview !== undefined && !options.noInput)
    await (await import('./preview.ts')).preview(session, call, { ...fields, [confirm.preview]: true });
  await ask(session, question);
  return {};
}
