/** What a token of a program may write. */
import { NAME } from '../name.ts';

/** What a token can be limited to: kinds of objects that a request names. */
export const NAMED_KINDS = ['workspace', 'inventory', 'workflow', 'rule', 'schedule', 'check', 'netgroup'] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/** How many objects one token names. */
export const ONLY_MAX = 100;

/** A program that holds a token: it asks for runs, and decides about none. */
export interface Agent {
  /** The only objects that it writes, each as `kind:name`, sorted; null: all that its scope does. */
  readonly only: readonly string[] | null;
}

/** As the row of a token has it, where null is a person. */
export function agentText(agent: Agent | null): string | null {
  if (agent === null) return null;
  return agent.only === null ? EVERYTHING : JSON.stringify(agent.only);
}

export function readAgent(text: string | null): Agent | null {
  if (text === null) return null;
  return { only: text === EVERYTHING ? null : (JSON.parse(text) as string[]) };
}

const EVERYTHING = '*';

/** As views show it: nothing of a token of a person. */
export function shownAgent(agent: Agent | null): { agent?: true; only?: string[] } {
  if (agent === null) return {};
  return agent.only === null ? { agent: true } : { agent: true, only: [...agent.only] };
}

/** As in `only` of an agent. */
export function named(kind: NamedKind, name: string): string {
  return `${kind}:${name}`;
}

/** Whether it is a kind and a name of its form, with a colon between them. */
export function isNamed(text: string): boolean {
  const at = text.indexOf(':');
  return isNamedKind(text.slice(0, Math.max(at, 0))) && NAME.test(text.slice(at + 1));
}

function isNamedKind(text: string): boolean {
  return NAMED_KINDS.some((kind) => kind === text);
}
