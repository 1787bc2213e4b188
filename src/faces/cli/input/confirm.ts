import { Failure } from '../../../domain/failure.ts';
import type { Confirm } from '../../../operations/core/cli-face.ts';
import type { Projected } from '../../../views/views.ts';
import { readData } from '../connection/client.ts';
import type { Session } from '../connection/session.ts';
import type { Fields } from '../syntax/arguments.ts';
import { ask, type Question } from './question.ts';
import { filled } from '../syntax/field-names.ts';
import { inline } from '../../text/safe.ts';
import { type OperationCall, operationVerb, TREE } from '../syntax/tree.ts';

/** Null if no confirmation is needed. */
async function questionOf(session: Session, confirm: Exclude<Confirm, { by: 'host-keys' }>): Promise<Question | null> {
  const { fields } = session;
  switch (confirm.by) {
    case 'yes':
      if (confirm.preview !== undefined && fields[confirm.preview] === true) return null;
      if (confirm.when !== undefined && fields[confirm.when] !== true) return null;
      return { text: filled(confirm.question, fields), isYes: (answer) => /^y(es)?$/i.test(answer) };
    case 'name': {
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
async function read<V extends 'approval.get' | 'approval.plan' | 'whoami'>(
  { client, fields }: Session,
  verb: string,
  input: Fields = { id: fields['id'] },
): Promise<Projected<V> | null> {
  try {
    return (await readData(await client.call(operationVerb(TREE, verb).call, input))).data as Projected<V>;
  } catch (error) {
    if (error instanceof Failure && (error.code === 'not_found' || error.code === 'forbidden')) return null;
    throw error;
  }
}

/**
 * Whether the caller may do this, as far as the server says so: who may not is asked nothing, because the call itself
 * refuses and says why. Who asked for a job does not decide about it.
 */
async function mayCall(session: Session, { operation: id, confirm }: OperationCall): Promise<boolean> {
  const me = await read<'whoami'>(session, 'whoami', {});
  if (me?.scope === undefined) return true;
  const { loadOperation } = await import('../../../operations/areas.ts');
  const { scopes } = await loadOperation(id);
  // The local command line may do everything, whatever scope it shows.
  if (session.options.remote !== null && !scopes.some((scope) => scope === me.scope)) return false;
  if (confirm?.by !== 'plan') return true;
  return (await read<'approval.get'>(session, 'approval get'))?.requested_by !== me.name;
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
  // To approve is itself a confirmation; what destroys or removes needs --yes.
  if (options.noInput && confirm.by === 'plan') return {};
  const question = await questionOf(session, confirm);
  if (question === null || (!options.noInput && !(await mayCall(session, call)))) return {};
  if (confirm.by === 'yes' && confirm.preview !== undefined && !options.noInput)
    await (await import('./preview.ts')).preview(session, call, { ...fields, [confirm.preview]: true });
  await ask(session, question);
  return {};
}
