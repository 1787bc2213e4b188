/** People with decision links, of a message or of `svc approval link`: they look, decide, do it again, come late. */
import { linkVisitOf } from '../../../src/faces/ingress/decision-routes.ts';
import {
  type Asked,
  decideByLink,
  type DecisionPage,
  visitLink,
} from '../../../src/operations/approvals/decision-page.ts';
import { linkHash } from '../../../src/store/approvals/decision-links.ts';
import { type Clients, someDaemon, type Reply } from '../clients.ts';
import type { Place } from '../place.ts';
import type { Action, LinkUse } from '../plan/plan.ts';
import type { HeldLink, LinkWatch } from './link-watch.ts';

/** As the answer to `approval.link` shows it. */
interface Pair {
  readonly recipient: string;
  readonly approve: string;
  readonly reject: string;
}

const PURPOSE = 'links';
/** A link that somebody asked for is used this often, within this time. */
const USES = 3;
const USE_MS = 6_000;
/** In this share the recipient loses the tokens in this time. */
const DISMISSED = 0.4;
/** From the page to its button, at most. */
const READ_MS = 2_000;
const HOWS: readonly LinkUse[] = ['look', 'form', 'form', 'form', 'tap', 'late'];

/** What it means to the person, as the code of an operation. */
const CODES = {
  unknown: 'not_found',
  question: 'forbidden',
  expired: 'conflict',
  stale: 'stale_plan',
  changed: 'conflict',
  own: 'forbidden',
  lapsed: 'forbidden',
} as const;

export class LinkHolders {
  readonly #place: Place;
  readonly #clients: Clients;
  readonly #watch: LinkWatch;
  readonly #held: HeldLink[] = [];
  #read = 0;

  constructor(place: Place, clients: Clients, watch: LinkWatch) {
    this.#place = place;
    this.#clients = clients;
    this.#watch = watch;
  }

  /** The answer to a call; null for a refusal. */
  learn(operation: string, data: unknown): void {
    if (operation !== 'approval.link' || data === null) return;
    const { approve, reject, recipient } = data as Pair;
    const chance = this.#place.world.chance.of(PURPOSE);
    const pair = [approve, reject].map((url) => this.#keep(url, recipient));
    for (let n = 0; n < USES; n += 1) {
      const [link, how] = [chance.pick(pair), chance.pick(HOWS)];
      this.#place.world.later('link', chance.whole(0, USE_MS), () => void this.#use(link, how));
    }
    if (chance.chance(DISMISSED))
      this.#place.world.later('link', chance.whole(0, USE_MS), () => void this.#dismiss(recipient));
  }

  /** Somebody who has links may decide no more. */
  async #dismiss(owner: string): Promise<void> {
    const tokens = this.#place.store.rows(
      "select id from tokens where owner = ? and scope = 'approve' and revoked_at is null order by id",
      owner,
    );
    const call = { do: 'call', afterMs: 0, as: 'local', operation: 'token.revoke' } as const;
    await Promise.all(tokens.map(({ id }) => this.#clients.act({ ...call, raw: { token: String(id) } })));
  }

  use({ at, how }: Extract<Action, { do: 'link' }>): void {
    this.#readMessages();
    // Most of the newest: the older ones are of requests that have ended.
    const link = this.#held[Math.floor((1 - at * at) * this.#held.length)] ?? this.#held.at(-1);
    if (link !== undefined) void this.#use(link, how);
  }

  #keep(url: string, recipient: string): HeldLink {
    const { pathname, search } = new URL(url);
    const visit = linkVisitOf({ url: `${pathname}${search}` });
    if (visit === null) throw new Error(`${url} is no decision link`);
    const link = { visit, recipient, hash: linkHash(visit.token) };
    this.#held.push(link);
    return link;
  }

  /** The buttons of the messages on the phone. */
  #readMessages(): void {
    const { messages } = this.#place;
    for (const text of messages.slice(this.#read)) {
      const { actions = [] } = JSON.parse(text) as { actions?: readonly { url: string }[] };
      for (const { url } of actions) if (url.includes('?token=')) this.#keep(url, 'notify:phone');
    }
    this.#read = messages.length;
  }

  async #use(link: HeldLink, how: LinkUse): Promise<void> {
    const { world } = this.#place;
    if (how === 'tap') return this.#post(link, {});
    const page = await this.#look(link);
    if (how === 'look' || page?.show !== 'question') return;
    const { asked, proof } = page;
    world.later('link', this.#pauseMs(how, asked), () => void this.#post(link, { seen: proof }));
  }

  #pauseMs(how: LinkUse, { expiresAt }: Asked): number {
    const { world, store } = this.#place;
    const chance = world.chance.of(PURPOSE);
    return how === 'late' ? expiresAt - world.wallOf(store) : chance.whole(1, READ_MS);
  }

  /** The page; null where the daemon had none. */
  async #look(link: HeldLink): Promise<DecisionPage | null> {
    const on = someDaemon(this.#place, PURPOSE);
    if (on === null) return null;
    const sight = this.#watch.sight(link);
    let page: DecisionPage | null = null;
    await this.#clients.ask(on, { ...asking(link), operation: 'link.visit' }, link.recipient, async () => {
      page = await visitLink(on.node.runtime, link.visit);
      return { code: 'ok', kind: page.show, data: page };
    });
    if (page !== null) this.#watch.shown(link, page, [sight, this.#watch.sight(link)]);
    return page;
  }

  async #post(link: HeldLink, fields: Readonly<Record<string, string>>): Promise<void> {
    const on = someDaemon(this.#place, PURPOSE);
    if (on === null) return;
    this.#watch.used(link);
    const sight = this.#watch.sight(link);
    let page: DecisionPage | null = null;
    await this.#clients.ask(on, asking(link), link.recipient, async () => {
      page = await decideByLink(on.node.runtime, link.visit, fields);
      return replyOf(page);
    });
    if (page !== null) this.#watch.answered(link, page, [sight, this.#watch.sight(link)]);
  }
}

/** The oracle hears the decision as that of its recipient. */
function asking({ visit, recipient }: HeldLink): Parameters<Clients['ask']>[1] {
  return {
    operation: 'approval.decision',
    caller: { owner: recipient, scopes: ['approve'], via: 'web', credential: 'link' },
    raw: { id: visit.approvalId, decision: visit.decision },
    key: undefined,
  };
}

function replyOf(page: DecisionPage): Reply {
  const kind = `by link: ${page.show}`;
  if (page.show !== 'outcome') return { code: CODES[page.show], kind, data: null };
  const { fresh, asked, state } = page;
  if (!fresh) return { code: 'conflict', kind: `${kind} of another`, data: null };
  const jobState = state === 'approved' ? 'queued' : 'cancelled';
  return { code: 'ok', kind, data: { job_id: asked.jobId, state, job_state: jobState } };
}
