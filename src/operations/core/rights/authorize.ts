/** What a caller may call, before and after its input is read. */
import { type Agent, named, NAMED_KINDS, type NamedKind } from '../../../domain/access/agent.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { Failure } from '../../../domain/failure.ts';
import { isWrite, type Operation } from '../operation.ts';
import { innerType } from '../parse.ts';

/** Before anything is read: a refused call has read nothing. Throws forbidden. */
export function authorize(operation: Operation, caller: Caller): void {
  const scopes = (caller.credential === 'session' ? operation.sessionScopes : undefined) ?? operation.scopes;
  if (!scopes.some((scope) => caller.scopes.includes(scope))) {
    throw new Failure(
      'forbidden',
      `${operation.id} needs the scope ${scopes.join(' or ')}; this credential has ${caller.scope}.`,
    );
  }
  if (operation.bearerOnly === true && caller.credential === 'session') {
    throw new Failure('forbidden', `${operation.id} needs a bearer token: a browser session is not enough.`);
  }
  const refusal = caller.agent === null ? null : refusalOfAgent(operation, caller.agent);
  if (refusal !== null) throw new Failure('forbidden', refusal);
}

/** Why a program cannot call it, whatever it sends; null if it can. */
export function refusalOfAgent(operation: Operation, agent: Agent): string | null {
  if (operation.noAgents !== undefined) return operation.noAgents;
  if (agent.only === null || !isWrite(operation)) return null;
  const kinds = kindsNamed(operation);
  if (agent.only.some((entry) => kinds.some((kind) => entry.startsWith(named(kind, ''))))) return null;
  return `${operation.id}: ${limitOf(agent.only)}`;
}

/**
 * What the caller names must be what its token is for. Throws forbidden. `input` was checked; a field of it that names
 * something has the name of the kind, and `name` is that of the noun of the operation.
 */
export function requireNamed(operation: Operation, caller: Caller, input: Readonly<Record<string, unknown>>): void {
  const only = caller.agent?.only ?? null;
  if (only === null || !isWrite(operation)) return;
  const names = kindsNamed(operation).flatMap((kind) => {
    const name = input[fieldOf(operation, kind)];
    return typeof name === 'string' ? [named(kind, name)] : [];
  });
  if (names.length === 0 || !names.every((name) => only.includes(name)))
    throw new Failure('forbidden', `${operation.id}: ${limitOf(only)}`);
}

function limitOf(only: readonly string[]): string {
  return `this token writes only what names ${only.join(', ')}.`;
}

/** The kinds of objects that a request names, in the order of NAMED_KINDS. */
export function kindsNamed(operation: Operation): readonly NamedKind[] {
  const { shape } = operation.input;
  return NAMED_KINDS.filter((kind) => {
    const field = shape[fieldOf(operation, kind)];
    // A playbook's `check` is a switch.
    return field !== undefined && innerType(field).type === 'string';
  });
}

function fieldOf({ id }: Operation, kind: NamedKind): string {
  return id.startsWith(`${kind}.`) ? 'name' : kind;
}
