/** What must hold of decision links: each decides at most once, for its recipient, and never after the end. */
import type { DecisionPage, LinkVisit } from '../../../src/operations/approvals/decision-page.ts';
import type { Place } from '../place.ts';

export interface HeldLink {
  readonly visit: LinkVisit;
  readonly recipient: string;
  /** The key of its row. */
  readonly hash: string;
}

/** What is there of a link at one moment. */
export interface Sight {
  /** False for one that a newer one replaced. */
  readonly isKept: boolean;
  readonly state: string;
  readonly isPastDeadline: boolean;
  /** Whether its recipient may decide. */
  readonly mayDecide: boolean;
}

interface TokenFact {
  readonly owner: string;
  readonly expires_at: number | string | null;
}

const DECISIONS = `select target, owner, detail from ledger
  where operation = 'approval.decision' and via = 'link' order by target`;
const TOKENS = "select owner, expires_at from tokens where scope = 'approve' and revoked_at is null";
/** From the look at a token to the time of the decision, at most. */
const LOOKED_MS = 500;

export class LinkWatch {
  readonly #place: Place;
  readonly #isOn: boolean;
  readonly #seen = new Set<string>();
  /** The decisions that somebody made with a link. */
  readonly #made = new Set<string>();
  /** Links that were answered that they decided. */
  readonly #decided = new Set<string>();
  /** As of the last commit. */
  #tokens: readonly TokenFact[] = [];

  /** `isOn`: the plan has links. */
  constructor(place: Place, isOn: boolean) {
    this.#place = place;
    this.#isOn = isOn;
  }

  /** To be asked after each commit. */
  committed(): void {
    if (!this.#isOn) return;
    const { store } = this.#place;
    const tokens = store.rows(TOKENS) as unknown as readonly TokenFact[];
    for (const { target, owner, detail } of store.rows(DECISIONS)) {
      const id = String(target);
      if (this.#seen.has(id)) continue;
      this.#seen.add(id);
      const { decision } = JSON.parse(String(detail)) as { decision: string };
      // One commit may hold the decision and a revocation, in either order.
      this.#lookAt({ id, recipient: String(owner), decision }, [...this.#tokens, ...tokens]);
    }
    this.#tokens = tokens;
  }

  /** Somebody is about to decide with it. */
  used({ visit, recipient }: HeldLink): void {
    this.#made.add(nameOf(visit.approvalId, recipient, visit.decision));
  }

  sight({ visit, recipient, hash }: HeldLink): Sight {
    const { store, world } = this.#place;
    const [approval] = store.rows('select state, expires_at from approvals where id = ?', visit.approvalId);
    const now = world.wallOf(store);
    return {
      isKept: store.rows('select hash from decision_links where hash = ?', hash).length > 0,
      state: String(approval?.['state']),
      isPastDeadline: Number(approval?.['expires_at']) <= now,
      mayDecide: mayDecide(store.rows(TOKENS) as unknown as readonly TokenFact[], recipient, now),
    };
  }

  /** A page that was shown to somebody who only looks; `before` and `after` the look. */
  shown(link: HeldLink, page: DecisionPage, [before, after]: readonly [Sight, Sight]): void {
    this.#lookAtRefusal(link, page, [before, after]);
    if (page.show === 'question' && isOver(before, after))
      this.#violated('A10', link, `asks about what is ${before.state} and past its deadline`);
    if (page.show === 'outcome' && page.fresh) this.#violated('A7', link, 'decided when it was looked at');
  }

  /** The page that somebody was answered who decided; `before` and `after` the request. */
  answered(link: HeldLink, page: DecisionPage, [before, after]: readonly [Sight, Sight]): void {
    this.#lookAtRefusal(link, page, [before, after]);
    if (page.show !== 'outcome' || !page.fresh) return;
    if (isOver(before, after)) this.#violated('A10', link, `decided what was ${before.state}, or past its deadline`);
    if (!before.isKept) this.#violated('A10', link, 'decided after a newer one replaced it');
    if (this.#decided.has(link.hash)) this.#violated('A10', link, 'decided twice');
    this.#decided.add(link.hash);
    if (!this.#seen.has(link.visit.approvalId)) this.#violated('A9', link, 'decided, and the ledger does not say so');
  }

  #lookAtRefusal(link: HeldLink, page: DecisionPage, [before, after]: readonly [Sight, Sight]): void {
    if (page.show === 'unknown' && before.isKept && after.isKept) this.#violated('A11', link, 'is not known');
    const isOwners = !link.recipient.startsWith('notify:');
    if (page.show === 'lapsed' && isOwners && before.mayDecide && after.mayDecide)
      this.#violated('A11', link, 'is refused, and its recipient may decide');
  }

  #lookAt({ id, recipient, decision }: Decided, tokens: readonly TokenFact[]): void {
    const { store, watch } = this.#place;
    const what = `${recipient} decided about ${id} with a link`;
    if (!this.#made.has(nameOf(id, recipient, decision))) watch.violated('A7', `${what} that was not used`);
    const [row] = store.rows('select state, decided_by, decided_via, decided_at from approvals where id = ?', id);
    const state = decision === 'approve' ? 'approved' : 'rejected';
    if (row?.['state'] !== state || row['decided_by'] !== recipient || row['decided_via'] !== 'link')
      watch.violated('A9', `${what}: ${decision}, and it is ${JSON.stringify(row)}`);
    const isTarget = recipient.startsWith('notify:');
    if (!isTarget && !mayDecide(tokens, recipient, Number(row?.['decided_at']) - LOOKED_MS))
      watch.violated('A8', `${what}, and has no token that may`);
  }

  #violated(rule: string, { visit, recipient }: HeldLink, what: string): void {
    const { approvalId, decision } = visit;
    this.#place.watch.violated(rule, `the link of ${recipient} to ${decision} ${approvalId} ${what}`);
  }
}

interface Decided {
  readonly id: string;
  readonly recipient: string;
  readonly decision: string;
}

function nameOf(approvalId: string, recipient: string, decision: string): string {
  return `${approvalId} ${recipient} ${decision}`;
}

/** Also where the clock is set in between. */
function isOver(before: Sight, after: Sight): boolean {
  return before.state !== 'pending' || (before.isPastDeadline && after.isPastDeadline);
}

function mayDecide(tokens: readonly TokenFact[], owner: string, at: number): boolean {
  return tokens.some((token) => token.owner === owner && (token.expires_at === null || Number(token.expires_at) > at));
}
