/** Which verb lists the things that a flag or an argument may name, for completion and for prompts. */
import { type Client, readData } from '../connection/client.ts';
import type { Flag, OperationCall, Tree, Verb } from '../syntax/tree.ts';

export interface LiveList {
  /** The verb that lists them. */
  readonly list: Verb & { readonly call: OperationCall };
  /** The member of a row that names it; null for `project/name`. */
  readonly key: string | null;
}

/** A name that can be chosen, and a few words about it. Neither is safe to show yet. */
export interface LiveName {
  readonly name: string;
  readonly about: string;
}

/** What an argument or a flag of a verb is called. */
export type Named = Pick<Flag, 'type' | 'field' | 'placeholder' | 'values'>;

/** Names of the thing that the verb itself is about, such as the id of `svc job get`. */
const OWN = ['id', 'ids', 'name', 'id_or_file'];
/** Verbs that make the thing: its name is new. */
const MAKERS = ['add', 'create'];
/** Rows to ask for, where a list has a limit, and names to use of any list. */
const ROWS = 50;
const NAMES_MAX = 200;

/** Null if no verb lists such things. */
export function liveListOf(tree: Tree, { path }: Pick<Verb, 'path'>, named: Named): LiveList | null {
  const { field, placeholder, type, values } = named;
  if (field === undefined || type === 'boolean' || values !== undefined) return null;
  const words = path.split(' ');
  const isOwn = OWN.includes(field);
  if (isOwn && MAKERS.includes(words.at(-1) ?? '')) return null;
  const noun = isOwn ? words.slice(0, -1).join(' ') : (placeholder ?? field).toLowerCase();
  const verb = (name: string): Verb | undefined => tree.verbs.find((each) => each.path === `${noun} ${name}`);
  const list = verb('list');
  if (list === undefined || !('operation' in list.call)) return null;
  const known = isOwn ? field : ((verb('get') ?? verb('remove'))?.positionals[0]?.field ?? 'name');
  return { list: { ...list, call: list.call }, key: known === noun ? null : known === 'name' ? 'name' : 'id' };
}

/** Newest or first ones, without revoked tokens, with which nothing can be done. Throws Failure like any call. */
export async function readNames(client: Client, { list, key }: LiveList): Promise<LiveName[]> {
  const limit = list.flags.some(({ field }) => field === 'limit') ? { limit: ROWS } : {};
  const { data } = await readData(await client.call(list.call, { ...limit, ...list.call.preset }));
  if (!Array.isArray(data)) return [];
  return (data as Readonly<Record<string, unknown>>[])
    .filter((row) => (row['revoked_at'] ?? null) === null)
    .slice(0, NAMES_MAX)
    .map((row) => ({ name: nameOf(row, key), about: aboutOf(row) }))
    .filter(({ name }) => name !== '');
}

function nameOf(row: Readonly<Record<string, unknown>>, key: string | null): string {
  const { project, name } = row;
  return key === null ? `${text(project)}/${text(name)}` : text(row[key]);
}

function aboutOf({ summary, runbook, kind, state, requested_by: by }: Readonly<Record<string, unknown>>): string {
  const asked = text(by) === '' ? '' : `asked by ${text(by)}`;
  const what = [text(runbook), text(summary)].filter((part) => part !== '').join(': ') || text(kind);
  return [what, text(state), asked].filter((part) => part !== '').join(', ');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
