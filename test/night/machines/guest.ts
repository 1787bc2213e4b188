/** A machine, prepared for one run: a Debian with npm and Node, and a clone of this project in a closed folder. */
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { find } from '../../support/tools.ts';
import { baseArchive, LOGS, npmCache, ROOT } from './base.ts';
import { type Engine, ENGINES } from './engines.ts';
import { CERTIFICATES, certificates, environment } from './host.ts';
import { type End, runLimited, runOrThrow } from './run.ts';
import type { AccountName, Machine } from './table.ts';

/** Unpacking a Debian and the cache of npm takes seconds; a busy disk has taken minutes. */
const PREPARATION_LIMIT_MS = 10 * 60_000;
/** Nothing that another account may enter: a job of another account finds no file of the clone. */
const CLOSED = 0o700;
/** As Debian numbers the first one. */
const USER_ID = 1_000;

interface Account {
  readonly name: string;
  readonly id: number;
  readonly home: string;
}

const ACCOUNTS: Readonly<Record<AccountName, Account>> = {
  root: { name: 'root', id: 0, home: '/root' },
  user: { name: 'user', id: USER_ID, home: '/home/user' },
};

interface Command {
  readonly step: string;
  readonly words: readonly string[];
  readonly limitMs: number;
  /** The account of the machine, unless another one is named. */
  readonly account?: AccountName;
}

export class Guest {
  readonly machine: Machine;
  readonly #root: string;
  readonly #engine: Engine;
  readonly #environment = environment();

  constructor(machine: Machine, root: string) {
    this.machine = machine;
    this.#root = root;
    this.#engine = ENGINES[machine.engine];
  }

  logOf(step: string): string {
    return join(LOGS, `${this.machine.name}-${step}.log`);
  }

  /** Runs a program in the clone, with the environment that a login gives and what npm and apt need here. */
  async run({ step, words, limitMs, account = this.machine.account }: Command): Promise<End> {
    const { name, id } = ACCOUNTS[account];
    const { home } = ACCOUNTS[this.machine.account];
    const place = { root: this.#root, name: this.machine.name, account: name, id, directory: join(home, 'gatehouse') };
    const start = this.#engine.start({ ...place, environment: this.#environment, limitMs });
    const stop = this.#engine.stop(this.machine.name);
    return runLimited({ words: [...start, ...words], log: this.logOf(step), limitMs, stop });
  }

  async prepare(): Promise<void> {
    const root = this.#root;
    const { name, id, home } = ACCOUNTS[this.machine.account];
    const inside = join(root, home);
    const words = [
      ['tar', '--numeric-owner', '-xpf', await baseArchive(this.machine.base), '-C', root],
      ...(id === 0 ? [] : [['useradd', '--root', root, '--uid', String(id), '--create-home', name]]),
      ['git', 'clone', '--quiet', '--no-hardlinks', ROOT, join(inside, 'gatehouse')],
      ['cp', '-a', await npmCache(), join(inside, '.npm')],
      ['chown', '-R', '--no-dereference', `${id}:${id}`, inside],
    ];
    for (const each of words) await runOrThrow(each, this.logOf('preparation'), PREPARATION_LIMIT_MS);
    chmodSync(inside, CLOSED);
    this.#connect();
    const terraform = this.machine.terraform ? find('terraform') : null;
    if (terraform !== null) copyFileSync(terraform, join(root, 'usr/local/bin/terraform'));
  }

  /** To the network of this machine. */
  #connect(): void {
    const resolver = join(this.#root, 'etc/resolv.conf');
    rmSync(resolver, { force: true });
    writeFileSync(resolver, readFileSync('/etc/resolv.conf'));
    writeFileSync(join(this.#root, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
    const trusted = certificates();
    if (trusted !== null) copyFileSync(trusted, join(this.#root, CERTIFICATES));
  }
}
