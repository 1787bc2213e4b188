/** Backups from outside: the rows of finished ones, their files, and the moments that their copies may be of. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { idOfBackupFile } from '../../../src/domain/backups/backup.ts';
import type { Place } from '../place.ts';
import { momentOf } from './moments.ts';

/** A finished backup, as it was when it was finished. */
export interface KeptBackup {
  readonly id: string;
  /** Of a copy of its file: the file itself is removed when newer ones take its place. */
  readonly path: string;
  /** Of its store, from the start of its job to the end. */
  readonly moments: ReadonlySet<string>;
}

interface Row {
  readonly id: string;
  readonly job_id: string;
  readonly file: string;
  readonly host: string;
  readonly sha256: string;
}

const LISTED = 'select id, job_id, file, host, sha256 from backups where removed_at is null';

export class BackupWatch {
  readonly kept: KeptBackup[] = [];
  readonly #place: Place;
  readonly #isOn: boolean;
  readonly #moments = new Map<string, Set<string>>();
  readonly #seen = new Set<string>();

  /** `isOn`: the plan has backups. */
  constructor(place: Place, isOn: boolean) {
    this.#place = place;
    this.#isOn = isOn;
  }

  committed(): void {
    if (!this.#isOn) return;
    const { rows } = this.#place.store;
    const finished = this.#listed().filter(({ id }) => !this.#seen.has(id));
    for (const row of finished) this.#finished(row);
    const running = rows("select id from jobs where kind = 'backup' and state = 'running'").map(({ id }) => String(id));
    for (const id of this.#moments.keys()) if (!running.includes(id)) this.#moments.delete(id);
    for (const id of running) {
      const moments = this.#moments.get(id) ?? new Set();
      this.#moments.set(id, moments.add(momentOf(rows)));
    }
  }

  /** Each file that counts as a backup is one, and nothing else is left. To be asked once nothing can happen. */
  lookAtRest(): void {
    if (!this.#isOn) return;
    const { store, watch, world } = this.#place;
    for (const row of this.#listed()) this.#lookAtFile(row);
    const known = new Set(store.rows('select file from backups').map(({ file }) => String(file)));
    for (const folder of new Set(world.hosts.map(({ machine }) => this.#folderOf(machine.name))))
      for (const name of existsSync(folder) ? readdirSync(folder) : []) {
        if (known.has(name)) continue;
        if (idOfBackupFile(name) === null) watch.violated('U4', `${name} is left in the folder of backups`);
        else watch.violated('U3', `${name} counts as a backup, and none is known`);
      }
  }

  #finished(row: Row): void {
    const { store, watch } = this.#place;
    this.#seen.add(row.id);
    const [job] = store.rows('select state from jobs where id = ?', row.job_id);
    if (job?.['state'] !== 'succeeded')
      return watch.violated('U1', `backup ${row.id} is finished, and its job ${String(job?.['state'])}`);
    if (!this.#lookAtFile(row)) return;
    const folder = join(store.folder, 'finished');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, row.file);
    copyFileSync(this.#pathOf(row), path);
    this.kept.push({ id: row.id, path, moments: this.#moments.get(row.job_id) ?? new Set() });
  }

  #lookAtFile(row: Row): boolean {
    const path = this.#pathOf(row);
    const isWhole = existsSync(path) && createHash('sha256').update(readFileSync(path)).digest('hex') === row.sha256;
    if (!isWhole) this.#place.watch.violated('U2', `the file of backup ${row.id} is missing or not what was made`);
    return isWhole;
  }

  #listed(): readonly Row[] {
    return this.#place.store.rows(LISTED) as unknown as readonly Row[];
  }

  #pathOf({ host, file }: Row): string {
    return join(this.#folderOf(host), file);
  }

  /** Of the machine with this name. */
  #folderOf(machine: string): string {
    const { store, world } = this.#place;
    const host = world.hosts.find((each) => each.machine.name === machine);
    if (host === undefined) throw new Error(`no daemon is on ${machine}`);
    return join(store.settingsOf(host).flags['data-dir'], 'backups');
  }
}
