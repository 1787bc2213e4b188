/**
 * F20: a daemon that dies after it sent a notification and before it recorded that, between the record and the next
 * notification, or while it collects.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNotificationFigures, runNotificationKills } from '../../night/chaos/notification-kills.ts';
import { chosenSeed } from '../../support/seeded.ts';

const KILLS = 10;

test(
  `F20: over ${KILLS} kills at send points no page is lost, each kill repeats one at most, under the same id, ` +
    'and one end is one notification',
  async (t) => {
    const seed = chosenSeed();
    t.diagnostic(`CHAOS_SEED=${seed}`);
    const { violations, figures } = await runNotificationKills(t, { postgres: false, daemons: 1, kills: KILLS, seed });
    t.diagnostic(describeNotificationFigures(figures));
    assert.deepEqual(violations, []);
    assert.ok(figures.doubled > 0 && figures.jobs > 0, 'the kills met sends');
  },
);
