/** Starts the program that exchanges folders for links while a test works on them. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AccountIds } from '../../../src/domain/jobs/account.ts';
import { HELPER_NODE_OPTIONS } from '../../../src/runners/process/lean.ts';
import { needs } from '../tools.ts';
import type { Attack } from './exchange-attack.ts';

export interface Attacker {
  /** Resolves when the attack has begun. */
  begin(attack: Attack): Promise<void>;
  /** Resolves when it is over. */
  over(): Promise<void>;
  stop(): void;
}

/** For `skip`: false where startAttacker() works with this account, which has to read the program. */
export function needsOfAttacker(account: AccountIds | null): string | false {
  return account === null ? false : needs('a checkout that every account reaches');
}

/** With an account, the program runs as it. */
export function startAttacker(account: AccountIds | null = null): Attacker {
  const child = fork(join(import.meta.dirname, 'exchange-attack.ts'), [], {
    execArgv: [...HELPER_NODE_OPTIONS],
    ...account,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const lines = createInterface({ input: child.stdout ?? assert.fail() })[Symbol.asyncIterator]();
  const expect = async (line: string): Promise<void> => assert.equal((await lines.next()).value, line);
  return {
    begin(attack) {
      child.send(attack);
      return expect('go');
    },
    over: () => expect('done'),
    stop: () => void child.kill('SIGKILL'),
  };
}
