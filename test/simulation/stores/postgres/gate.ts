/**
 * Where the statements of all daemons pass to a real server. What is sent in a step of the world is answered before
 * the next choice, unless it waits for a lock; answers become items of the world in an order that is not the server's.
 */
import type { World } from '../../world/world.ts';
import type { Server } from './server.ts';
import { type Opened, Session } from './session.ts';

/** Without an answer for this time, in real milliseconds, the server is asked whether a statement waits for a lock. */
const LOOK_MS = 3;

/** A message to the server that has no answer yet. */
interface UnderWay {
  readonly session: Session;
  waits: boolean;
  /** Drops the limit of its wait. */
  drop: () => void;
}

interface Arrival {
  readonly session: Session;
  readonly deliver: () => void;
}

let current: Gate | null = null;

export function theGate(): Gate {
  if (current === null) throw new Error('there is no PostgreSQL in this world');
  return current;
}

export class Gate {
  readonly world: World;
  readonly server: Server;
  readonly #under = new Set<UnderWay>();
  readonly #listeners = new Set<Session>();
  /** The server's numbers of sessions that were cut and may still be there. */
  readonly #dying = new Set<number>();
  #arrived: Arrival[] = [];
  #sessions = 0;
  #wake: () => void = () => undefined;

  private constructor(world: World, server: Server) {
    this.world = world;
    this.server = server;
  }

  /** That of the world that is open. */
  static open(world: World, server: Server): Gate {
    current = new Gate(world, server);
    world.settle = () => theGate().settle();
    return current;
  }

  adopt(opened: Opened): void {
    this.#sessions += 1;
    opened.who.host.handles.add(new Session(this, this.#sessions, opened));
  }

  /** The result ends it. */
  begin(session: Session): () => void {
    const under: UnderWay = { session, waits: false, drop: () => undefined };
    this.#under.add(under);
    return () => {
      under.drop();
      this.#under.delete(under);
      this.#wake();
    };
  }

  /** Something came from the server: it is delivered when nothing else is expected. */
  arrived(session: Session, deliver: () => void): void {
    this.#arrived.push({ session, deliver });
  }

  listens(session: Session): void {
    this.#listeners.add(session);
  }

  /** A commit with a notification: it comes to each session that listens, late, or lost with its connection. */
  notify(payload: string): void {
    for (const session of this.#listeners) session.hear(payload);
  }

  /** The process of a session has died: what the server still does for it is ended. */
  cut(session: Session, pid: number | null): void {
    this.forget(session);
    for (const under of this.#under) {
      if (under.session !== session) continue;
      under.drop();
      this.#under.delete(under);
    }
    if (pid === null) return;
    this.end(pid);
    this.#dying.add(pid);
  }

  /** The server ends a session, which may wait for a lock. */
  end(pid: number): void {
    this.server.terminate(pid);
    this.server.resume(pid);
  }

  forget(session: Session): void {
    this.#listeners.delete(session);
  }

  async settle(): Promise<void> {
    while (this.#isRunning() || this.#arrived.length > 0 || this.#dying.size > 0) {
      await this.#buried();
      await this.#answered();
      const arrived = this.#arrived.toSorted((a, b) => a.session.number - b.session.number);
      this.#arrived = [];
      for (const { deliver } of arrived) deliver();
    }
  }

  #isRunning(): boolean {
    for (const { waits } of this.#under) if (!waits) return true;
    return false;
  }

  async #buried(): Promise<void> {
    while (this.#dying.size > 0) {
      const living = this.server.living(this.#dying);
      for (const pid of this.#dying) if (!living.has(pid)) this.#dying.delete(pid);
      if (this.#dying.size > 0) await this.#news(1);
    }
    this.#free();
  }

  async #answered(): Promise<void> {
    do
      for (let lookMs = LOOK_MS; this.#isRunning();) {
        if (await this.#news(lookMs)) continue;
        lookMs *= 2;
        const blocked = this.server.blocked();
        for (const under of this.#under) if (!under.waits && blocked.has(under.session.pid)) this.#wait(under);
      }
    while (this.#free());
  }

  #wait(under: UnderWay): void {
    const { session } = under;
    under.waits = true;
    // Those freed at once would race in the server.
    this.server.stop(session.pid);
    this.world.note(`${session.name} waits for a lock`);
    const { lockMs } = session.limits;
    if (lockMs === Number.POSITIVE_INFINITY) return;
    under.drop = this.world.later('lock', lockMs, () => {
      if (!this.#under.has(under) || !under.waits) return;
      this.world.note(`${session.name} has waited too long`);
      this.server.cancel(session.pid);
      this.server.resume(session.pid);
      under.waits = false;
    });
  }

  /** Whether one that waited has its lock now. Of several only one continues until it is answered or waits. */
  #free(): boolean {
    const waiting = [...this.#under].filter(({ waits }) => waits);
    if (waiting.length === 0) return false;
    const blocked = this.server.blocked();
    const free = waiting
      .filter(({ session }) => !blocked.has(session.pid))
      .toSorted((a, b) => a.session.number - b.session.number)[0];
    if (free === undefined) return false;
    free.waits = false;
    free.drop();
    this.server.resume(free.session.pid);
    return true;
  }

  /** False when none came in time. */
  #news(limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), limitMs);
      this.#wake = () => {
        clearTimeout(late);
        resolve(true);
      };
    });
  }
}
