import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { runBare, writeTree } from '../../support/ansible/bare-run.ts';
import { needs } from '../../support/tools.ts';
import { readReportLine } from '../../../src/domain/playbooks/report.ts';
import { type PlaybookResults, type Recap, ResultsCollector } from '../../../src/domain/playbooks/results.ts';
import { type PlaybookVerdict, verdictOf } from '../../../src/domain/playbooks/verdict.ts';

/** Nothing listens on port 9 of the loopback address, so `down` cannot be reached. */
const INVENTORY = `
a ansible_connection=local
b ansible_connection=local
down ansible_host=127.0.0.1 ansible_port=9
gone ansible_host=127.0.0.1 ansible_port=9
`;
const OK = '{ name: works, command: /bin/true }';
const FAIL = '{ name: fails, command: /bin/false }';

const play = (hosts: string, tasks: readonly string[], more = ''): string =>
  `- hosts: ${hosts}\n  gather_facts: false\n${more}  tasks:\n${tasks.map((task) => `    - ${task}\n`).join('')}`;

interface Row {
  readonly what: string;
  readonly playbook: string;
  readonly args?: readonly string[];
  /** State and exit code of the run, and the state with tolerate_unreachable where it is another. */
  readonly plain: readonly [string, number];
  readonly tolerant?: string;
  readonly reason: string | null;
}

const ONE_OFF = '1 host could not be reached.';

const ROWS: readonly Row[] = [
  { what: 'every host succeeds', playbook: play('a,b', [OK]), plain: ['succeeded', 0], reason: null },
  { what: 'a task fails on a host', playbook: play('a', [FAIL]), plain: ['failed', 2], reason: '1 host failed.' },
  {
    what: 'a failure is ignored',
    playbook: play('a', ['{ name: fails, command: /bin/false, ignore_errors: true }']),
    plain: ['succeeded', 0],
    reason: null,
  },
  {
    what: 'a failure is rescued',
    playbook: play('a', [`{ block: [${FAIL}], rescue: [${OK}] }`]),
    plain: ['succeeded', 0],
    reason: null,
  },
  {
    what: 'a host is offline, the others succeed',
    playbook: play('a,b,down', [OK, OK]),
    plain: ['failed', 4],
    tolerant: 'degraded',
    reason: ONE_OFF,
  },
  {
    what: 'a host is lost during the run, the other one succeeds',
    playbook: play('a,b', [
      OK,
      `{ command: /bin/true, vars: { ansible_connection: "{{ inventory_hostname == 'a' and 'ssh' or 'local' }}", ` +
        'ansible_host: 127.0.0.1, ansible_port: 9 } }',
    ]),
    plain: ['failed', 4],
    tolerant: 'degraded',
    reason: ONE_OFF,
  },
  {
    what: 'every host is offline',
    playbook: play('down,gone', [OK]),
    plain: ['failed', 4],
    reason: 'No host could be reached.',
  },
  {
    what: 'one host is offline and one fails: the exit code is the same as for offline hosts alone',
    playbook: play('a,b,down', [OK, "{ command: /bin/false, when: inventory_hostname == 'a' }"]),
    plain: ['failed', 4],
    reason: '1 host failed; 1 host could not be reached.',
  },
  {
    what: 'one host is offline and the others have nothing to do',
    playbook: play('a,down', ["{ command: /bin/true, when: inventory_hostname == 'down' }"]),
    plain: ['failed', 4],
    reason: ONE_OFF,
  },
  {
    what: 'an offline host ends the run before another batch',
    playbook: play('a,down,b', [OK], '  serial: 1\n'),
    plain: ['failed', 4],
    reason: '1 host could not be reached; 1 host never began.',
  },
  {
    what: 'an offline host ends the run before another play',
    playbook: play('a', [OK]) + play('down', [OK]) + play('b', [OK]),
    plain: ['failed', 4],
    reason: '1 host could not be reached; 1 play never began.',
  },
  {
    what: 'an offline host is fatal by the word of the play',
    playbook: play('a,down', [OK, OK], '  any_errors_fatal: true\n'),
    plain: ['failed', 2],
    reason: ONE_OFF,
  },
  {
    what: 'an offline host is ignored by the word of the play',
    playbook: play('a,down', [OK], '  ignore_unreachable: true\n'),
    plain: ['succeeded', 0],
    reason: null,
  },
  {
    what: 'the play forgets that one of two hosts is offline',
    playbook: play('a,down', [OK, 'meta: clear_host_errors']),
    plain: ['succeeded', 0],
    reason: null,
  },
  {
    what: 'no play matches a host',
    playbook: play('nothing', [OK]) + play('nowhere', [OK]),
    plain: ['failed', 0],
    reason: 'No host matched.',
  },
  {
    what: 'one play of two matches a host',
    playbook: play('nothing', [OK]) + play('a', [OK]),
    plain: ['succeeded', 0],
    reason: null,
  },
  {
    what: 'the limit matches no host',
    playbook: play('a', [OK]),
    args: ['--limit=c'],
    plain: ['failed', 1],
    reason: null,
  },
  {
    what: 'the tags select no task',
    playbook: play('a', [OK]),
    args: ['--tags=none'],
    plain: ['succeeded', 0],
    reason: null,
  },
  {
    what: 'the playbook cannot be read: the exit code is the same as for offline hosts',
    playbook: '- hosts: [a\n',
    plain: ['failed', 4],
    reason: null,
  },
];

async function resultsOf({ playbook, args = [] }: Row): Promise<{ exitCode: number | null; results: PlaybookResults }> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-verdict-'));
  try {
    writeTree(dir, { 'site.yml': playbook, hosts: INVENTORY });
    const { exitCode, report } = await runBare(dir, ['-i', 'hosts', ...args, 'site.yml']);
    const collector = new ResultsCollector((text) => text);
    for (const line of report) collector.add(readReportLine(line) ?? assert.fail(line));
    return { exitCode, results: collector.results() };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe('the verdict about a run of the real tool', { concurrency: 2, skip: needs('ansible-playbook', 'ssh') }, () => {
  for (const row of ROWS) {
    it(row.what, async () => {
      const { exitCode, results } = await resultsOf(row);
      const [plain, tolerant] = [false, true].map((tolerateUnreachable) =>
        verdictOf({ end: { reason: 'exited', exitCode }, recap: results.recap, tolerateUnreachable }),
      );
      const [state, code] = row.plain;
      assert.deepEqual(plain, { state, exitCode: code, reason: row.reason }, JSON.stringify(results.recap));
      assert.deepEqual(tolerant, { state: row.tolerant ?? state, exitCode: code, reason: row.reason });
    });
  }
});

type Reason = Parameters<typeof verdictOf>[0]['end']['reason'];

const RECAP: Recap = {
  ended: true,
  plays: 1,
  playsWithoutHosts: 0,
  playsLeft: 0,
  hostsLeft: 0,
  hosts: 2,
  good: 1,
  failed: 0,
  unreachable: 1,
};
const EMPTY: Recap = { ...RECAP, ended: false, plays: 0, hosts: 0, good: 0, unreachable: 0 };

function judge(reason: Reason, exitCode: number | null, recap: Recap): PlaybookVerdict {
  return verdictOf({ end: { reason, exitCode }, recap, tolerateUnreachable: true });
}

test('A run that was stopped is cancelled, or failed by its time-out, whatever its hosts did', () => {
  assert.deepEqual(judge('cancelled', 143, RECAP), { state: 'cancelled', exitCode: 143, reason: null });
  assert.deepEqual(judge('timeout', 4, RECAP), { state: 'failed', exitCode: 4, reason: null });
  assert.deepEqual(judge('refused', null, RECAP), { state: 'failed', exitCode: null, reason: null });
});

test('A run that reported no end is no success, and not degraded either', () => {
  assert.deepEqual(judge('exited', 0, EMPTY), {
    state: 'failed',
    exitCode: 0,
    reason: 'ansible-playbook did not report the end of the run.',
  });
  const unreached = { ...RECAP, good: 0, unreachable: 2 };
  assert.deepEqual(judge('exited', 0, unreached), {
    state: 'failed',
    exitCode: 0,
    reason: 'No host could be reached.',
  });
  assert.equal(judge('exited', 4, { ...RECAP, ended: false }).state, 'failed');
  assert.equal(judge('exited', 137, RECAP).state, 'failed');
  assert.equal(judge('exited', 4, RECAP).state, 'degraded');
});
