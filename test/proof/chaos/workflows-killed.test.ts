import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenSeed } from '../../support/seeded.ts';
import { describeWorkflowFigures, runWorkflowKills } from '../../night/chaos/workflow-kills.ts';

const KILLS = 10;

test(`F01: over ${KILLS} kills of the daemon under running workflows no step is lost and none starts twice`, async (t) => {
  const seed = chosenSeed();
  t.diagnostic(`CHAOS_SEED=${seed}`);
  const { violations, figures } = await runWorkflowKills(t, { postgres: false, daemons: 1, kills: KILLS, seed });
  t.diagnostic(describeWorkflowFigures(figures));
  assert.deepEqual(violations, []);
  assert.ok(figures.runs > 1 && figures.interrupted > 0, 'there were runs, and the kills met them');
});
