/** What a reader has at the place: copied ids and URLs, and the variables of the terminal. */
import { createECDH, randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TERMINAL } from '../support/api-client.ts';
import { MAKERS } from './ids.ts';
import type { Place } from './place.ts';

/** An id in full in the help, and its prefix in the documents. */
const ID = /\b(job|evt|apr|art|sil|mute|bak|ep|wfr)_(?:…|01m7yd4zyke00anp2z332d2j5p)/g;

interface Queued {
  readonly job_id: string;
}

export class Given {
  readonly place: Place;
  /** Where the reader is. */
  folder: string;
  readonly #made = new Map<string, Promise<string>>();

  constructor(place: Place) {
    this.place = place;
    this.folder = place.folder;
  }

  /** Made once for all examples. */
  once(what: string, make: () => Promise<string>): Promise<string> {
    const made = this.#made.get(what) ?? make();
    this.#made.set(what, made);
    return made;
  }

  /** The id of a job of this operation, when the job has ended. */
  async ended(operation: string, raw: object): Promise<string> {
    const { job_id: id } = await this.place.call<Queued>(operation, raw);
    await this.place.fixture.waitFor(id, TERMINAL);
    return id;
  }

  /** The command with what a reader copies: real ids, the URL of a webhook. */
  async fill(command: string): Promise<string> {
    let text = command;
    if (/\bcurl\b/.test(text) && /\bURL\b/.test(text))
      text = text.replaceAll(/\bURL\b/g, (await this.hook(sourceOf(text))).url);
    for (const [id, prefix = ''] of command.matchAll(ID)) text = text.replace(id, await this.#idOf(prefix, command));
    return text;
  }

  #idOf(prefix: string, command: string): Promise<string> {
    const make = MAKERS[prefix];
    if (make === undefined) throw new Error(`nothing is called ${prefix}_`);
    return make(this, command);
  }

  /** URL of a webhook that no example removes. */
  async hook(kind: Kind): Promise<Hook> {
    const isSigned = kind === 'signed';
    const order = { name: `of-${kind}`, source: isSigned ? 'generic' : kind, signed: isSigned };
    return JSON.parse(
      await this.once(kind, async () => JSON.stringify(await this.place.call<Hook>('webhook.add', order))),
    ) as Hook;
  }

  /** Posts an event, and answers the id of the newest one. */
  async event(source: Kind, body: object): Promise<string> {
    const { url } = await this.hook(source);
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: JSON_BODY });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    const [event] = await this.place.call<{ id: string }[]>('event.list', { limit: 1 });
    return event?.id ?? '';
  }
}

type Kind = 'alertmanager' | 'generic' | 'signed';

interface Hook {
  readonly url: string;
  readonly signing_secret: string | null;
}

function sourceOf(text: string): Kind {
  if (text.includes('X-Gatehouse-Signature')) return 'signed';
  return text.includes('"alerts"') ? 'alertmanager' : 'generic';
}

const JSON_BODY = { 'content-type': 'application/json' };

/** What a reader's terminal has, besides the settings of the service. */
export async function variables(given: Given, text: string): Promise<Record<string, string>> {
  const { root } = given.place;
  const { signing_secret: secret } = text.includes('$SECRET') ? await given.hook('signed') : { signing_secret: null };
  return {
    ...(secret === null ? {} : { SECRET: secret }),
    // Of a job that an event has started.
    ...(text.startsWith('#!')
      ? { SVC_LABEL_MOUNTPOINT: join(root, 'data'), SVC_EVENT_FILE: join(root, 'event.json') }
      : {}),
    // Of a machine without a service.
    ...(text.startsWith('svc seal init')
      ? { SVC_DATA_DIR: join(root, 'new', randomUUID()), SVC_SEAL_KEY_FILE: '' }
      : {}),
    // Of a browser's subscription.
    ...(text.includes('$P256DH') ? pushKeys() : {}),
  };
}

function pushKeys(): Record<string, string> {
  const browser = createECDH('prime256v1');
  return { P256DH: browser.generateKeys('base64url'), AUTH: randomBytes(16).toString('base64url') };
}

/** The token of a host lies where the host reads it. */
export function after({ place }: Given, command: string, stdout: string): void {
  const [token] = /svc_[\w-]{20,}/.exec(stdout) ?? [];
  if (/--scope host/.test(command) && token !== undefined)
    writeFileSync(join(place.root, 'etc/gatehouse/token'), token);
}
