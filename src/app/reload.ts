import { type Settings, SETTINGS } from '../config/settings/settings.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { reloadSettings } from '../daemon/maintenance/reload.ts';
import type { Log } from '../lib/log.ts';
import type { Reload } from '../operations/maintenance/services.ts';
import type { Store } from '../store/store.ts';
import type { Base } from './base.ts';
import { readTransports, type Transport, type TransportDeps } from '../push/transport.ts';

/** Settings that a running daemon takes over: their effect is the list of targets. */
const RELOADED: readonly string[] = ['config', 'notify', 'notifyFile'] satisfies readonly (keyof Settings)[];

interface ReloadParts {
  /** As the daemon was started with. */
  readonly settings: Settings;
  /** Reads them again, from the same flags and environment. */
  readonly load: () => Promise<Settings>;
  readonly daemon: () => Daemon | null;
}

/** The targets of `--notify` and `--notify-file`, which a reload replaces. */
export class Targets {
  readonly #deps: TransportDeps;
  #current: readonly Transport[];

  private constructor(texts: readonly string[], deps: TransportDeps) {
    this.#deps = deps;
    this.#current = readTransports(texts, deps);
  }

  /** Throws invalid_argument. */
  static async open({ clock, sealKey }: Pick<Base, 'clock' | 'sealKey'>, texts: readonly string[]): Promise<Targets> {
    return new Targets(texts, { clock, sealKey: await sealKey() });
  }

  get current(): readonly Transport[] {
    return this.#current;
  }

  /** Everything is read and checked before anything changes. Throws invalid_argument, and then nothing changes. */
  reloader({ settings, load, daemon }: ReloadParts): () => Promise<Reload> {
    return async () => {
      const fresh = await load();
      const transports = readTransports(fresh.notify, this.#deps);
      return {
        transports: transports.length,
        restartNeeded: changed(settings, fresh),
        write: async (tx) => {
          tx.afterCommit(() => (this.#current = transports));
          await daemon()?.reload(tx, transports);
        },
      };
    };
  }
}

/**
 * Reloads at each SIGHUP, as a service manager asks for it, until the result is called. A reload that fails changes
 * nothing and is logged.
 */
export function reloadOnHangup(store: Store, readSettings: () => Promise<Reload>, log: Log): () => Promise<void> {
  const onHangup = (): void => {
    reloadSettings({ store, readSettings }, 'SIGHUP').then(
      ({ transports, restartNeeded }) => log.info({ transports, restartNeeded }, 'reloaded'),
      (err: unknown) => log.error({ err }, 'reload failed: nothing has changed'),
    );
  };
  process.on('SIGHUP', onHangup);
  return () => Promise.resolve(void process.off('SIGHUP', onHangup));
}

/** The flags of the settings that have another value now and are read only at the start. */
function changed(before: Settings, after: Settings): string[] {
  const keys = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
  return keys
    .filter((key) => !RELOADED.includes(key) && JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => SETTINGS[key].flag);
}
