import { CONSOLE_DECIDERS, DECIDERS, type Scope } from '../access/scope.ts';

/** A token of one of them decides somewhere. */
export const DECIDING_SCOPES: readonly Scope[] = [...new Set<Scope>([...DECIDERS, ...CONSOLE_DECIDERS])];

/** A sentence about a request that no token can decide: of the scopes, none belongs to somebody outside its chain. */
export function noDecider(scopes: readonly string[]): string {
  const each = `each one of the scope ${scopes.join(' or ')}`;
  return `No token can decide it: ${each} belongs to somebody who asked for it or caused it.`;
}
