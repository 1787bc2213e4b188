/** What a configuration file may change where its author is not on the machine. */
import { isDeepStrictEqual } from 'node:util';
import type { Entry } from '../../domain/configuration/change.ts';
import { Failure } from '../../domain/failure.ts';
import { isCredentialName } from '../../domain/secrets/credential-name.ts';
import { hideCredentials, KEPT, keptCredentials, replaceTexts, textsOf } from '../core/sections/kept.ts';
import type { ConfigSection, ConfigSections } from '../core/sections/section.ts';
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
  const { word, folders = [], isShownOnce = false } = section;
  if (change === 'add' && isShownOnce)
    throw forbidden(`a ${word} is made on the machine, which shows its URL: svc ${word} add`);
  const folder = folders.find((field) => to[field] !== undefined && to[field] !== from?.[field]);
  if (folder !== undefined) throw forbidden(`${folder}: a directory of the machine is named on the machine only`);
  const reach = fieldBeyond(to);
  if (reach !== null) throw forbidden(`${reach}: what reaches beyond the sandbox is defined on the machine only`);
  if (hidesWords(to)) throw forbidden('reveal: what hides its words from who decides is defined on the machine only');
  if (!(await hasStoredCredentials(section, from ?? {}, to)))
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

function hidesWords(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([field, each]) => (field === 'reveal' && each === false) || hidesWords(each));
}

/** Whether each credential of an entry is the stored one in its place: then hiding and keeping them changes nothing. */
async function hasStoredCredentials(section: ConfigSection, from: Entry, to: Entry): Promise<boolean> {
  const { credentials, word } = section;
  const hidden = replaceTexts((await credentials?.hide(to)) ?? to, hideCredentials);
  try {
    const restored = replaceTexts(hidden, keptCredentials(word, textsOf(from)));
    const kept = (await credentials?.keep(restored, from)) ?? restored;
    return isDeepStrictEqual(kept, to) && !namesCredential(to, from);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Whether a text has a name such as `password` and is another one than before in its place. */
function namesCredential(to: unknown, from: unknown): boolean {
  if (typeof to !== 'object' || to === null) return false;
  const before = (typeof from === 'object' && from !== null ? from : {}) as Entry;
  return Object.entries(to).some(([field, each]) => {
    const isNew = isCredentialName(field) && typeof each === 'string' && each !== KEPT && each !== before[field];
    return isNew || namesCredential(each, before[field]);
  });
}
