/**
 * `npm run chaos [-- [KILLS] [PART...]]`: 200 kills under load on SQLite and 200 on PostgreSQL with two daemons, then
 * 1,000 at the points of sending pages on each, then 1,000 over running workflows on each, then 1,000 cordons that race
 * claims on each, and the figures of all. KILLS takes the place of all numbers; PARTs (`jobs-sqlite`, ...) run alone.
 * CHAOS_SEED=N repeats the decisions of a run. Exits with 1 when an invariant was broken.
 */
import { readArguments, refuseArgument } from '../../../scripts/arguments.ts';
import type { Ending } from '../../support/fixtures/installation.ts';
import { describeFigures, runChaos } from './chaos.ts';
import { describeRaces, runCordonRaces } from './cordon-races.ts';
import { describeNotificationFigures, runNotificationKills } from './notification-kills.ts';
import { chosenSeed } from '../../support/seeded.ts';
import { describeWorkflowFigures, runWorkflowKills } from './workflow-kills.ts';

const KILLS_DEFAULT = 200;
/** What the fault F20 asks for. */
const NOTIFICATION_KILLS_DEFAULT = 1_000;
const WORKFLOW_KILLS_DEFAULT = 1_000;
const CORDONS_DEFAULT = 1_000;

interface Answer {
  readonly figures: string;
  readonly violations: readonly { readonly rule: string; readonly what: string }[];
}

/** One daemon; two on one data directory; two on one PostgreSQL. */
const ONE = { postgres: false, daemons: 1 };
const TWO = { postgres: false, daemons: 2 };
const SHARED = { postgres: true, daemons: 2 };

const PARTS: Readonly<Record<string, (ending: Ending) => Promise<Answer>>> = {
  'jobs-sqlite': jobs(ONE),
  'jobs-sqlite-two': jobs(TWO),
  'jobs-postgres': jobs(SHARED),
  'pages-sqlite': pages(ONE),
  'pages-postgres': pages(SHARED),
  'workflows-sqlite': workflows(ONE),
  'workflows-postgres': workflows(SHARED),
  'cordon-sqlite': cordons(false),
  'cordon-postgres': cordons(true),
};

const USAGE = 'npm run chaos [-- [KILLS] [PART]...]';
const { positionals: words } = readArguments(USAGE, {}, true);
const given = /^\d+$/.test(words[0] ?? '') ? Number(words.shift()) : undefined;
const unknown = words.find((name) => PARTS[name] === undefined);
if (unknown !== undefined)
  refuseArgument(`There is no part ${unknown}: expected ${Object.keys(PARTS).join(', ')}.`, USAGE);
const seed = chosenSeed();
console.log(`CHAOS_SEED=${seed}`);

for (const [name, run] of Object.entries(PARTS)) if (words.length === 0 || words.includes(name)) await part(name, run);

function jobs(place: typeof ONE) {
  return async (ending: Ending): Promise<Answer> => {
    const { violations, figures } = await runChaos(ending, { ...place, kills: given ?? KILLS_DEFAULT, seed });
    return { violations, figures: describeFigures(figures) };
  };
}

function pages(place: typeof ONE) {
  return async (ending: Ending): Promise<Answer> => {
    const kills = given ?? NOTIFICATION_KILLS_DEFAULT;
    const { violations, figures } = await runNotificationKills(ending, { ...place, kills, seed });
    return { violations, figures: describeNotificationFigures(figures) };
  };
}

function workflows(place: typeof ONE) {
  return async (ending: Ending): Promise<Answer> => {
    const kills = given ?? WORKFLOW_KILLS_DEFAULT;
    const { violations, figures } = await runWorkflowKills(ending, { ...place, kills, seed });
    return { violations, figures: describeWorkflowFigures(figures) };
  };
}

function cordons(postgres: boolean) {
  return async (ending: Ending): Promise<Answer> => {
    const { violations, figures } = await runCordonRaces(ending, { postgres, races: given ?? CORDONS_DEFAULT, seed });
    return { violations, figures: describeRaces(figures) };
  };
}

/** Runs one part and ends what it began, also where it fails. */
async function part(name: string, run: (ending: Ending) => Promise<Answer>): Promise<void> {
  const endings: (() => Promise<void>)[] = [];
  try {
    const { figures, violations } = await run({ after: (step) => void endings.push(step) });
    console.log(`${name}: ${figures}; ${violations.length} violations`);
    for (const { rule, what } of violations) console.log(`  ${rule}: ${what}`);
    if (violations.length > 0) process.exitCode = 1;
  } finally {
    for (const step of endings.toReversed()) await step();
  }
}
