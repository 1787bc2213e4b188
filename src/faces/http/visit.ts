import type { Caller, Via } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { type FairTurns, TurnsFull } from '../../lib/flow/fair-turns.ts';
import type { Holder } from '../../lib/flow/in-name-of.ts';
import type { Authenticator, Credentials } from '../../operations/access/authenticate.ts';
import { ClientGone } from './body.ts';

/** The way of one request through the turns: first those of its peer, then those of its token or webhook. */
export class Visit implements Holder {
  readonly #turns: FairTurns;
  readonly #response: { readonly destroyed: boolean };
  #holder: string;
  #task: 'none' | 'placed' | 'detached' = 'none';

  constructor(turns: FairTurns, peer: string, response: { readonly destroyed: boolean }) {
    this.#turns = turns;
    this.#response = response;
    this.#holder = `peer:${peer}`;
  }

  /** Who the time is on the account of. */
  get holder(): string {
    return this.#holder;
  }

  /** Undefined where the request may go on at once, as in `start` and `enter`. Throws or rejects with unavailable. */
  begin(): Promise<void> | undefined {
    return refusedIfFull(() => this.#turns.enter(this.#holder));
  }

  /** From here on the time counts for `holder`. Throws or rejects with unavailable. */
  enter(holder: string): Promise<void> | undefined {
    this.leave();
    this.#holder = holder;
    return refusedIfFull(() => this.#turns.enter(holder));
  }

  /**
   * The same, with one of the places of the holder, until `leave`. Throws or rejects with unavailable, and with
   * ClientGone where the client has not waited.
   */
  start(holder: string): Promise<void> | undefined {
    this.leave();
    this.#holder = holder;
    const placed = (): void => void (this.#task = 'placed');
    const turn = refusedIfFull(() => this.#turns.start(holder));
    if (turn === undefined) placed();
    return turn?.then(placed).then(() => this.#refuseGone());
  }

  /** To be called when the request is answered, or waits for something that may take long. May be called twice. */
  leave(): void {
    if (this.#task === 'placed') this.#turns.leave(this.#holder);
    else if (this.#task === 'detached') this.#turns.end(this.#holder);
    this.#task = 'none';
  }

  /** For a long answer: how long it takes is for its reader to say, so it has no place from here on. */
  detach(): void {
    if (this.#task !== 'placed') return;
    this.#task = 'detached';
    this.#turns.detach(this.#holder);
  }

  /** Lets others go on before the next part of a long task. Rejects with ClientGone: no one waits for the rest. */
  async next(): Promise<void> {
    await nextTurn();
    this.#refuseGone();
    await this.#turns.goOn(this.#holder);
    this.#refuseGone();
  }

  #refuseGone(): void {
    if (this.#response.destroyed) throw new ClientGone();
  }
}

function refusedIfFull(take: () => Promise<void> | undefined): Promise<void> | undefined {
  try {
    return take()?.catch(refuse);
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof TurnsFull)) throw error;
  throw new Failure('unavailable', 'Too many requests are waiting for their turn.');
}

/** The one way from a request to its caller: it continues when it is the turn of the token. Throws Failure. */
export async function admit(
  authenticator: Pick<Authenticator, 'authenticate'>,
  { visit }: { readonly visit: Visit },
  credentials: Credentials,
  via: Via,
): Promise<Caller> {
  const caller = await authenticator.authenticate(credentials, via);
  const turn = visit.start(caller.id);
  if (turn !== undefined) await turn;
  return caller;
}
