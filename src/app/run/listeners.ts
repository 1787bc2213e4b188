import type { ListenAddress } from '../../config/settings/listen-address.ts';
import { Failure } from '../../domain/failure.ts';
import { createHttpFace, type HttpFace } from '../../faces/api/face.ts';
import { TURN_LIMITS } from '../../faces/http/limits.ts';
import { Peers } from '../../faces/http/peers.ts';
import type { KeptSockets, ListenPlace } from '../../faces/http/server.ts';
import { errorCode } from '../../lib/error-code.ts';
import { FairTurns } from '../../lib/flow/fair-turns.ts';
import type { Log } from '../../lib/log.ts';
import { createAuthenticator } from '../../operations/access/authenticate.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { type Base, createServices, type ServiceParts } from '../base.ts';
import { loadModules } from '../services/on-demand.ts';
import { closeUnused, copyDescriptor, type HandedOver, socketsFor } from './hand-over.ts';
import { portHolder } from './port-holder.ts';
import type { Teardown } from './teardown.ts';

/** How long open requests may take to end when the daemon stops, in milliseconds. */
const CLOSE_GRACE_MS = 5_000;

interface Face {
  listen(at: ListenPlace): Promise<{ url: string }>;
  release(copy: (fd: number) => number | null): KeptSockets | null;
  close(graceMs: number): Promise<void>;
}

/** What a program listens with. */
export class Listeners {
  readonly base: Base;
  readonly log: Log;
  /** By which the requests of all listeners share the event loop. */
  readonly turns: FairTurns;
  readonly #teardown: Teardown;
  readonly #handed: HandedOver;
  readonly #open: { readonly name: string; readonly url: string }[] = [];
  readonly #used: KeptSockets[] = [];
  /** The sockets that are kept open; null where none are. */
  #kept: HandedOver['sockets'][number][] | null = null;

  constructor(base: Base, log: Log, teardown: Teardown, handed: HandedOver = { node: null, sockets: [] }) {
    this.base = base;
    this.log = log;
    this.turns = new FairTurns(base.clock, TURN_LIMITS);
    this.#teardown = teardown;
    this.#handed = handed;
  }

  /** Reported to the doctor. */
  listening(): readonly { readonly name: string; readonly url: string }[] {
    return this.#open;
  }

  /** Opens a listener; the result is its URL. Throws invalid_argument, with the name of the flag. */
  async open(name: string, face: Face, at: ListenAddress, flag: string): Promise<string> {
    this.#teardown.add(() => {
      const released = this.#kept === null ? null : face.release(copyDescriptor);
      if (released !== null) this.#kept?.push({ name, at, kept: released });
      return face.close(CLOSE_GRACE_MS);
    });
    const kept = socketsFor(this.#handed, name, at);
    if (kept !== undefined) this.#used.push(kept);
    try {
      const { url } = await face.listen(kept === undefined ? at : { ...at, kept });
      this.#open.push({ name, url });
      return url;
    } catch (error) {
      const code = errorCode(error) ?? 'unknown error';
      const why = code === 'EADDRINUSE' ? await inUse(at.port) : code;
      throw new Failure('invalid_argument', `--${flag}: cannot listen on ${at.host}:${at.port}: ${why}.`);
    }
  }

  /** The token-gated listener, open. */
  async openWeb(
    at: ListenAddress,
    flag: string,
    parts: Omit<ServiceParts, 'startedAt' | 'listeners'>,
  ): Promise<{ runtime: Runtime; url: string }> {
    const { base } = this;
    await loadModules();
    await base.probes.deps(); // A --check-ca-file that cannot be used ends the start.
    const services = createServices(base, {
      ...parts,
      startedAt: base.clock.now(),
      listeners: () => this.listening(),
      onError: (name, error) => this.log.error({ name, err: error }, 'not handled: a fault of the service'),
    });
    const runtime = { store: base.store, services };
    return { runtime, url: await this.open('web', await createWeb(this, runtime), at, flag) };
  }

  /** Closes what was handed over for a listener that is not there any more; to be called when all are open. */
  closeUnused(): void {
    closeUnused(this.#handed, this.#used);
  }

  /** When they close, the listeners leave their sockets open; the result tells which, once they have closed. */
  keepSockets(node: string): () => HandedOver {
    const kept: HandedOver['sockets'][number][] = [];
    this.#kept = kept;
    return () => ({ node, sockets: kept });
  }
}

async function inUse(port: number): Promise<string> {
  const holder = await portHolder(port);
  return `the port is in use${holder === null ? '' : ` by ${holder}`}`;
}

async function createWeb({ base, log, turns }: Listeners, runtime: Runtime): Promise<HttpFace> {
  const authenticator = createAuthenticator({ store: base.store, clock: base.clock, sealKey: await base.sealKey() });
  const { basePath, publicUrl, trustedProxy } = base.settings;
  return createHttpFace({
    runtime,
    authenticator,
    basePath,
    publicUrl,
    secureCookies: publicUrl?.startsWith('https:') === true,
    peers: new Peers(trustedProxy),
    turns,
    log,
  });
}
