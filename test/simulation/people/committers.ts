/** People who push while a job that uses the repository waits for its approval. */
import type { Clients } from '../clients.ts';
import type { Place } from '../place.ts';
import type { Action } from '../plan/plan.ts';
import { MAIN } from '../programs/git/remotes.ts';
import type { SourceWatch } from '../rules/source-watch.ts';

type Call = Extract<Action, { do: 'call' }>;

const PUSH_MS = 3_000;
/** Before the shortest deadline of an approval, mostly. */
const DECIDE_MS = 6_000;
const RUN = { playbook: 'site.yml', source: 'ops', inventory: 'localhost' };

export class Committers {
  readonly #place: Place;
  readonly #clients: Clients;
  readonly #watch: SourceWatch;

  constructor(place: Place, clients: Clients, watch: SourceWatch) {
    this.#place = place;
    this.#clients = clients;
    this.#watch = watch;
  }

  act(action: Extract<Action, { do: 'git' }>): void {
    const { remotes } = this.#place;
    if (action.what === 'lose') remotes.lose(action.forMs);
    else if (action.what === 'push') remotes.push(action.ref);
    else if (action.what === 'drop') remotes.drop(action.ref);
    else if (action.what === 'sync') void this.#sync();
    else this.#release();
  }

  /** Fetches the source again, and looks at the answer. */
  async #sync(): Promise<void> {
    const { remotes } = this.#place;
    const before = remotes.commitsOf(MAIN).length - 1;
    const data = await this.#call('local', 'source.sync', { name: 'ops' });
    if (data !== null) this.#watch.synced((data as { commit: string }).commit, remotes.commitsOf(MAIN, before));
  }

  /** A run is asked for, the ref moves, and then somebody says yes. */
  #release(): void {
    const { world, remotes } = this.#place;
    const soon = (mostMs: number, work: () => void): unknown =>
      world.later('committer', world.chance.of('committers').whole(0, mostMs), work);
    void this.#call('operator', 'workflow.run', { name: 'asked-of-git' });
    soon(PUSH_MS, () => {
      remotes.push(MAIN);
      void this.#sync();
    });
    soon(DECIDE_MS, () => void this.#call('operator', 'playbook.run', RUN));
    const newest = { of: 'run of a commit', at: 1 - 1e-9 };
    for (const decision of ['approve', 'approve'])
      soon(DECIDE_MS, () => void this.#call('decider', 'approval.decision', { id: newest, decision }));
  }

  #call(as: Call['as'], operation: string, raw: Call['raw']): Promise<unknown> {
    return this.#clients.act({ do: 'call', afterMs: 0, as, operation, raw });
  }
}
