/** What a configuration file may change where its author is not on the machine. */
import type { Entry } from '../../domain/configuration/change.ts';
import { Failure } from '../../domain/failure.ts';
import { hideCredentials, replaceTexts, textsOf } from '../core/sections/kept.ts';
import type { ConfigSections } from '../core/sections/section.ts';
import { type Change, type Plan, placing } from './plan.ts';

/** Whether all of it is applied at once: it starts no job and decides about none. */
export function isDirect({ changes, managed, taken }: Plan, sections: ConfigSections): boolean {
  const direct = [...sections.values()].filter((section) => section.isDirect === true).map(({ word }) => word);
  const kinds = [...changes, ...taken].map(({ section }) => section.word).concat(managed.map(({ kind }) => kind));
  return kinds.every((kind) => direct.includes(kind));
}

/** Throws forbidden for a change that is made on the machine only, with its place in the file. */
export async function refuseFromAfar(changes: readonly Change[]): Promise<void> {
  for (const change of changes) await placing(change.entry, () => refuse(change));
}

async function refuse({ change, section, from, to }: Change): Promise<void> {
  if (to === null) return;
  const { word, folders = [], isShownOnce = false, credentials } = section;
  if (change === 'add' && isShownOnce)
    throw forbidden(`a ${word} is made on the machine, which shows its URL: svc ${word} add`);
  const folder = folders.find((field) => to[field] !== undefined && to[field] !== from?.[field]);
  if (folder !== undefined) throw forbidden(`${folder}: a directory of the machine is named on the machine only`);
  const reach = fieldBeyond(to);
  if (reach !== null) throw forbidden(`${reach}: what reaches beyond the sandbox is defined on the machine only`);
  const known = new Set(await secretTexts(from ?? {}, credentials));
  if ((await secretTexts(to, credentials)).some((text) => !known.has(text)))
    throw forbidden('a credential is set on the machine only; store it with svc secret set, or write [kept]');
}

function forbidden(why: string): Failure {
  return new Failure('forbidden', `${why}.`);
}

/** The first of the words that widen a sandbox, at any depth; null without one. */
function fieldBeyond(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [field, each] of Object.entries(value)) {
    const isEmpty = each === false || (Array.isArray(each) && each.length === 0);
    if ((field === 'privileged' || field === 'writable') && !isEmpty) return field;
    const within = fieldBeyond(each);
    if (within !== null) return within;
  }
  return null;
}

/** The texts that an entry loses where its credentials are hidden. */
async function secretTexts(entry: Entry, credentials: Change['section']['credentials']): Promise<string[]> {
  const hidden = replaceTexts((await credentials?.hide(entry)) ?? entry, hideCredentials);
  const left = new Set(textsOf(hidden));
  return textsOf(entry).filter((text) => !left.has(text));
}
