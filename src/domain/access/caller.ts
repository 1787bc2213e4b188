import type { Agent } from './agent.ts';
import type { Scope } from './scope.ts';

/** How a request came: the trigger of the jobs that it makes. */
export type Via = 'api' | 'cli' | 'mcp' | 'web';

/** Who asks. Built by authentication (a token, a session) or by the local command line; never by a request. */
export interface Caller {
  /** The id of the token, or `local:<user>` for the local command line. */
  readonly id: string;
  readonly name: string;
  /** Whom the credential belongs to: decisions, idempotency keys and stream caps count by it. */
  readonly owner: string;
  /** The scope shown to people; checks read `scopes`. */
  readonly scope: Scope;
  readonly scopes: readonly Scope[];
  readonly via: Via;
  readonly credential: 'token' | 'session' | 'local';
  readonly expiresAt: number | null;
  /** The program that holds the credential; null for a person. */
  readonly agent: Agent | null;
}

/** The caller of the local command line, which can open the data directory. It acts as `local:<user>`. */
export function localCaller(user: string): Caller {
  const id = `local:${user}`;
  return {
    id,
    name: id,
    owner: id,
    scope: 'operator',
    scopes: ['readonly', 'operator', 'approve'],
    via: 'cli',
    credential: 'local',
    expiresAt: null,
    agent: null,
  };
}
