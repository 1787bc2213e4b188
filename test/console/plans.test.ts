/** Schedules, workspaces and checks in the console: what comes and what was. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addHistory } from '../../src/store/checks/history.ts';
import { gather, type Gathered } from '../../src/domain/checks/sweep/day.ts';
import { HandClock } from '../support/clock.ts';
import { seeded } from '../support/seeded.ts';
import { onMachine, tellStory } from '../support/console/story.ts';
import { visit } from '../support/console/visitor.ts';
import { startProgram } from '../support/program.ts';
import { refusal } from '../support/refusal.ts';

const DAY_MS = 86_400_000;

interface Agenda {
  readonly runs: readonly {
    readonly name: string;
    readonly local: string;
    readonly at: string;
    readonly more?: true;
    readonly clock_set?: 'forward' | 'back';
  }[];
  readonly left_out: number;
}

describe('In the console', () => {
  it('the agenda has the coming runs by time, in the zone of each schedule, none hiding another', async (t) => {
    // The clocks of Berlin are set back in the night to 26 October 2025.
    const clock = new HandClock(Date.UTC(2025, 9, 24, 12));
    const program = await startProgram(t, { clock });
    const add = (name: string, cron: string, timezone = 'UTC'): Promise<unknown> =>
      onMachine(program, 'schedule.add', { name, cron, timezone, inventory: 'localhost', words: ['true'] });
    await add('nightly', '0 3 * * *', 'Europe/Berlin');
    await add('often', '* * * * *');
    await add('off', '0 4 * * *');
    await onMachine(program, 'schedule.disable', { name: 'off' });
    const { runs, left_out: cut } = await onMachine<Agenda>(program, 'schedule.agenda', { days: 3 });
    assert.deepEqual(
      runs.filter(({ name }) => name === 'nightly').map(({ local, at, more }) => [local, at, more]),
      [
        ['2025-10-25 03:00 +02:00', '2025-10-25T01:00:00.000Z', undefined],
        ['2025-10-26 03:00 +01:00', '2025-10-26T02:00:00.000Z', undefined],
        ['2025-10-27 03:00 +01:00', '2025-10-27T02:00:00.000Z', undefined],
      ],
    );
    const often = runs.filter(({ name }) => name === 'often');
    assert.deepEqual(
      [often.length, often.at(-2)?.more, often.at(-1)?.more, runs.length, cut],
      [24, undefined, true, 27, 0],
    );
    const visitor = await visit(program, program.tokens.readonly);
    const { text } = await visitor.open('/schedules');
    assert.match(text, /<h2>The next 7 days<\/h2>.*2025-10-26 03:00 \+01:00 \(clock set back\)/s);
    assert.match(text, /often \(and more often\)/);
  });

  it('the agenda begins on any day of the next ten years, and marks runs of days on which the clock is set', async (t) => {
    const clock = new HandClock(Date.UTC(2026, 10, 27, 12));
    const program = await startProgram(t, { clock });
    const agenda = async (from: string, days: number): Promise<unknown[]> => {
      const { runs } = await onMachine<Agenda>(program, 'schedule.agenda', { from, days });
      return runs.map(({ local, clock_set: set }) => [local, set]);
    };
    const add = { name: 'nightly', cron: '30 2 * * *', timezone: 'Europe/Berlin', inventory: 'localhost' };
    await onMachine(program, 'schedule.add', { ...add, words: ['true'] });
    assert.deepEqual(await agenda('2027-03-27', 3), [
      ['2027-03-27 02:30 +01:00', undefined],
      ['2027-03-28 03:00 +02:00', 'forward'],
      ['2027-03-29 02:30 +02:00', undefined],
    ]);
    assert.deepEqual(await agenda('2027-10-31', 1), [['2027-10-31 02:30 +02:00', 'back']]);
    assert.deepEqual(await agenda('2026-11-27', 1), [], 'the run of today is over');
    assert.equal((await agenda('2036-11-27', 1)).length, 1);
    for (const from of ['2026-11-26', '2036-11-28', '2027-02-29', 'tomorrow', '2027-3-1'])
      await assert.rejects(agenda(from, 1), refusal('invalid_argument', /^from: expected a day of the next 10 years/));
  });

  it('of 100 schedules the agenda shows 500 runs, and how many there are besides', async (t) => {
    const program = await startProgram(t);
    for (let i = 0; i < 30; i += 1)
      await onMachine(program, 'schedule.add', {
        name: `each-${i}`,
        cron: '* * * * *',
        inventory: 'localhost',
        words: ['true'],
      });
    const { runs, left_out: cut } = await onMachine<Agenda>(program, 'schedule.agenda', {});
    assert.deepEqual([runs.length, cut], [500, 220]);
  });

  it('a workspace shows its saved plans with their use, and the serials that they were made from', async (t) => {
    const program = await startProgram(t);
    await tellStory(program);
    const visitor = await visit(program, program.tokens.operator);
    const first = (await visitor.open('/workspaces/net')).text;
    assert.match(first, /<h2>Saved plans<\/h2>.*<\/svg>open<\/span>.*art_.*to destroy/s);
    assert.match(first, /<h2>Serials of the state<\/h2>.*\(now\).*1 open/s);
    assert.match(first, /drift unknown<\/span>/);
    await program.store.write(({ db }) =>
      db
        .updateTable('workspaces')
        .set((eb) => ({ serial: eb('serial', '+', 3) }))
        .execute(),
    );
    assert.match((await visitor.open('/workspaces/net')).text, /<\/svg>stale<\/span>/);
    await program.store.write(({ db }) => db.updateTable('artifacts').set({ consumed_by: 'job_1' }).execute());
    const [plan] = await onMachine<{ use: string; used_by: string }[]>(program, 'workspace.plans', { name: 'net' });
    assert.deepEqual([plan?.use, plan?.used_by], ['used', 'job_1']);
  });

  it('an address is shown with its netgroup, as the sweep has it, and the prefix that decides', async (t) => {
    const program = await startProgram(t);
    await onMachine(program, 'netgroup.add', { name: 'dc', prefixes: '10.0.0.0/8,!10.0.9.0/24' });
    await onMachine(program, 'netgroup.add', { name: 'lab', prefixes: '10.1.0.0/16,2001:db8::/32' });
    const visitor = await visit(program, program.tokens.readonly);
    const index = await program.services.netgroups.current();
    const { whole } = seeded(35);
    const addresses = Array.from({ length: 40 }, () => `10.${whole(0, 1)}.${whole(8, 10)}.${whole(0, 255)}`);
    const seen = new Set<string>();
    for (const address of [...addresses, '2001:db8::1', '192.0.2.1']) {
      const { text } = await visitor.open(`/netgroups?address=${encodeURIComponent(address)}`);
      const [, panel = ''] = /<div class="panel">(.*?)<\/div>\n<table>/s.exec(text) ?? [];
      const netgroup = index.classify(address);
      assert.match(panel, new RegExp(` is (?:in )?${netgroup}\\b`), `${address}: ${panel}`);
      seen.add(netgroup);
    }
    assert.deepEqual([...seen].toSorted(), ['away', 'dc', 'lab']);
    assert.match((await visitor.open('/netgroups?address=10.0.9.1')).text, /!?10\.0\.9\.0\/24/);
    const refused = await visitor.open(`/netgroups?address=${encodeURIComponent('<b>')}`);
    assert.match(refused.text, /role="alert">address: expected an IPv4 or IPv6 address/);
    assert.match(refused.text, /value="&lt;b&gt;"/);
  });

  it('a check shows its shares of 24 h to 90 d, and since when a younger target is observed', async (t) => {
    // In the middle of a half hour: an observation of a minute ago is in the last one.
    const now = Date.UTC(2026, 5, 1, 12, 10);
    const program = await startProgram(t, { clock: new HandClock(now) });
    await tellStory(program);
    const gathered: Gathered[] = [];
    for (const [at, reading] of [
      [now - 20 * DAY_MS, 'down'],
      [now - 60_000, 'up'],
    ] as const)
      gather(gathered, { at, reading, isSnoozed: false, durationMs: 3 });
    await program.store.write((tx) => addHistory(tx, 'web', 'one', gathered));
    const visitor = await visit(program, program.tokens.readonly);
    const { text } = await visitor.open('/checks/web');
    const since = new Date(now - 20 * DAY_MS).toISOString().slice(0, 10);
    assert.match(text, /24h <b>100 %<.*>7d <b>100 %<.*>30d <b>50\.00 %<.*>90d <b>50\.00 %<\/b>/);
    assert.ok(text.includes(`observed since ${since}`));
    assert.match(text, /tabindex="0" aria-orientation="horizontal" aria-label="one: up 100 %, 0 of 48 half hours down/);
    const names = [...text.matchAll(/<title>([^<]* to [^<]* UTC: [^<]*)<\/title>/g)].map(([, name]) => name ?? '');
    assert.equal(new Set(names).size, 48, 'each slot has a name');
    assert.match(names.at(-1) ?? '', /:[03]0 UTC: up$/);
    const inTable = [...text.matchAll(/<td data-t="Time">([^<]*)<\/td>\s*<td data-t="State">([^<]*)</g)];
    assert.deepEqual(
      inTable.map(([, , state]) => state),
      ['no observation', 'up'],
    );
    const starts = [inTable[0]?.[1], inTable[1]?.[1], names[0], names[47]].map((span) => span?.split(' to ')[0]);
    assert.deepEqual(starts.slice(0, 2), starts.slice(2));
  });
});
