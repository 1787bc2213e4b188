import { DECIDERS, type Scope } from '../domain/access/scope.ts';
import { DECIDING_SCOPES } from '../domain/approvals/deciders.ts';
import { hasTokenOfOthers } from '../store/access/tokens.ts';
import { findGate } from '../store/gate/gate.ts';
import type { TagReader } from '../store/engine/tags/tags.ts';

/**
 * The scopes of which no one outside the asking chain has a valid token, if no other scope decides either: then no
 * face of the network decides the request. Empty where somebody can.
 */
export async function missingScopes(at: TagReader, owners: readonly string[], now: number): Promise<readonly Scope[]> {
  const scopes = (await findGate(at)).isStrict ? DECIDERS : DECIDING_SCOPES;
  return (await hasTokenOfOthers(at, owners, scopes, now)) ? [] : scopes;
}
