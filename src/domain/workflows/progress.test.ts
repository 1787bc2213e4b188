import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { compileStepCondition } from './condition.ts';
import { findCycle, inOrder, stepsAfter, stepsBefore } from './graph.ts';
import { type Evaluate, nextMoves, runStateOf, verdictOf } from './progress.ts';
import { resumeFrom } from './resume.ts';
import { isEnd, RUN_ENDS, type Step, STEP_ENDS, type StepEnd, type StepState } from './workflow.ts';

const plain = { when: null, approval: 'none', approvalTtlMs: null, action: null } as const;
const step = (name: string, needs: readonly string[] = [], when: string | null = null): Step => ({
  ...plain,
  name,
  needs,
  when,
});

/** Stands for an expression: a step with the condition `X` runs if no step before it is X. */
const evaluate: Evaluate = ({ when, needs }, states) => {
  if (when === 'error') return { error: 'a division by zero' };
  return { value: needs.every((need) => states.get(need) !== when) };
};

/** Steps without a cycle, each of which needs some of those before it, in any order of the file. */
const graphs: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat({ max: 11 }), { maxLength: 4 }),
      when: fc.option(fc.constantFrom('succeeded', 'failed', 'skipped', 'error'), { freq: 2 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) =>
    drawn.map(({ needs, when }, at) => {
      const names = at === 0 ? [] : [...new Set(needs.map((need) => `s${need % at}`))];
      return step(`s${at}`, names, names.length === 0 ? null : when);
    }),
  )
  .chain((steps) => fc.shuffledSubarray(steps, { minLength: steps.length }));

/** What a reader of the documentation computes: the end of a step, from those of the steps that it needs. */
function modelOf(steps: readonly Step[], jobs: (name: string) => StepEnd): Map<string, StepEnd> {
  const ends = new Map<string, StepEnd>();
  const endOf = (name: string): StepEnd => {
    const known = ends.get(name);
    if (known !== undefined) return known;
    const { needs, when } = steps.find((each) => each.name === name) ?? assert.fail(name);
    const needed = needs.map(endOf);
    const runs =
      when === null
        ? needed.every((end) => end === 'succeeded' || end === 'degraded')
        : !needed.includes(when as StepEnd);
    const end = when === 'error' ? 'failed' : runs ? jobs(name) : 'skipped';
    ends.set(name, end);
    return end;
  };
  for (const { name } of steps) endOf(name);
  return ends;
}

/** Ends of jobs, one for each of twelve steps, and an order in which running jobs end. */
const fates = fc.record({
  ends: fc.array(fc.constantFrom(...STEP_ENDS.filter((end) => end !== 'skipped')), { minLength: 12, maxLength: 12 }),
  order: fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
});

interface Trace {
  readonly states: Map<string, StepState>;
  /** Each started step, in the order of the starts. */
  readonly started: readonly string[];
}

/** Runs the steps to their end: `order` chooses which of the running jobs ends next. */
function play(
  steps: readonly Step[],
  ends: readonly StepEnd[],
  order: readonly number[],
  taken = new Map<string, StepEnd>(),
): Trace {
  const states = new Map<string, StepState>(steps.map(({ name }) => [name, taken.get(name) ?? 'waiting']));
  const started: string[] = [];
  for (let turn = 0; ; turn += 1) {
    for (const move of nextMoves(steps, states, evaluate)) {
      assert.equal(states.get(move.step), 'waiting', 'only a waiting step moves');
      states.set(move.step, move.to === 'start' ? 'running' : move.to);
      if (move.to === 'start') started.push(move.step);
    }
    const running = [...states].filter(([, state]) => state === 'running').map(([name]) => name);
    const next = running[(order[turn % order.length] ?? 0) % running.length];
    if (next === undefined) return { states, started };
    states.set(next, jobEnd(ends, next));
  }
}

function jobEnd(ends: readonly StepEnd[], name: string): StepEnd {
  return ends[Number(name.slice(1))] ?? 'succeeded';
}

describe('The steps of a workflow', () => {
  test('end as the model says, each started at most once, whatever order their jobs end in', () => {
    fc.assert(
      fc.property(graphs, fates, (steps, { ends, order }) => {
        const { states, started } = play(steps, ends, order);
        assert.deepEqual(
          states,
          modelOf(steps, (name) => jobEnd(ends, name)),
        );
        assert.equal(new Set(started).size, started.length);
      }),
      { numRuns: 1_000 },
    );
  });

  test('are in an order in which each is behind those that it needs, and none is lost', () => {
    fc.assert(
      fc.property(graphs, (steps) => {
        const names = inOrder(steps).map(({ name }) => name);
        assert.deepEqual(names.toSorted(), steps.map(({ name }) => name).toSorted());
        for (const { name, needs } of steps)
          for (const need of needs) assert.ok(names.indexOf(need) < names.indexOf(name), `${need} before ${name}`);
        assert.equal(findCycle(steps), null);
      }),
    );
  });

  test('have a cycle exactly where one of them is behind itself', () => {
    const any = fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(any, (drawn) => {
        const steps = drawn.map((needs, at) =>
          step(`s${at}`, [...new Set(needs.map((need) => `s${need % drawn.length}`))]),
        );
        const cycle = findCycle(steps);
        const isBehindItself = steps.some(({ name }) => stepsAfter(steps, name).has(name));
        assert.equal(cycle !== null, isBehindItself);
        for (const [at, name] of (cycle ?? []).entries()) {
          const next = cycle?.[(at + 1) % cycle.length] ?? '';
          assert.ok(steps.find((each) => each.name === name)?.needs.includes(next), `${name} needs ${next}`);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('are before and after each other alike', () => {
    fc.assert(
      fc.property(graphs, (steps) => {
        for (const { name } of steps)
          for (const other of steps)
            assert.equal(stepsAfter(steps, name).has(other.name), stepsBefore(steps, other.name).includes(name));
      }),
    );
  });
});

describe('A run', () => {
  test('ends as the worst of its steps', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STEP_ENDS), { maxLength: 8 }), (ends) => {
        const worst = RUN_ENDS.find((end) => ends.includes(end)) ?? 'succeeded';
        assert.equal(verdictOf(ends), worst);
        assert.equal(runStateOf(ends), worst);
      }),
    );
    assert.equal(verdictOf(['succeeded', 'skipped', 'degraded']), 'degraded');
    assert.equal(verdictOf(['succeeded', 'skipped']), 'succeeded');
    assert.equal(verdictOf(['failed', 'interrupted', 'cancelled']), 'interrupted');
    assert.equal(verdictOf(['cancelled', 'failed']), 'failed');
  });

  test('waits for an approval while nothing else of it is under way', () => {
    assert.equal(runStateOf(['succeeded', 'awaiting_approval', 'waiting']), 'awaiting_approval');
    assert.equal(runStateOf(['awaiting_approval', 'running', 'waiting']), 'running');
    assert.equal(runStateOf(['awaiting_approval', 'queued']), 'running');
    assert.equal(runStateOf(['failed', 'waiting']), 'running');
  });

  test('that starts at a step takes the ends of the others, and ends as one that ran them all', () => {
    fc.assert(
      fc.property(graphs, fates, fates, fc.nat(), (steps, first, second, at) => {
        const from = steps[at % steps.length]?.name ?? '';
        const { states } = play(steps, first.ends, first.order);
        const resumed = resumeFrom(steps, states, [from], evaluate);
        if ('refusal' in resumed) {
          assert.match(resumed.refusal, new RegExp(`^the step ${from} would not run: `));
          return;
        }
        const again = new Set([from, ...stepsAfter(steps, from)]);
        assert.deepEqual(
          [...resumed.taken.keys()].toSorted(),
          steps
            .map(({ name }) => name)
            .filter((name) => !again.has(name))
            .toSorted(),
        );
        const trace = play(steps, second.ends, second.order, new Map(resumed.taken));
        assert.equal(trace.started[0] !== undefined && trace.started.every((name) => again.has(name)), true);
        const expected = modelOf(steps, (name) => jobEnd(again.has(name) ? second.ends : first.ends, name));
        assert.deepEqual(trace.states, expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('that starts at a step is refused where a step is unknown or has no result', () => {
    const steps = [step('a'), step('b', ['a']), step('c', ['a'])];
    const refusal = (last: Record<string, StepState>, from: readonly string[]): string => {
      const resumed = resumeFrom(steps, new Map(Object.entries(last)), from, evaluate);
      return 'refusal' in resumed ? resumed.refusal : '';
    };
    assert.equal(refusal({}, ['d']), 'there is no step "d"');
    assert.match(refusal({ a: 'succeeded' }, ['b']), /no result of the step c/);
    assert.match(refusal({ a: 'running', c: 'succeeded' }, ['b']), /no result of the step a/);
    assert.equal(refusal({ a: 'failed', c: 'succeeded' }, ['b']), 'the step b would not run: the step a is failed');
    assert.equal(refusal({ a: 'succeeded' }, ['b', 'c']), '');
    assert.equal(refusal({}, ['a']), '');
  });
});

test('A condition sees the ends of all steps before it', async () => {
  const before = ['patch', 'roll-on'];
  const condition = await compileStepCondition(
    'steps.patch.state == "failed" || steps["roll-on"].state != "skipped"',
    before,
  );
  const answer = (patch: StepEnd, rollOn: StepEnd) =>
    condition.evaluate(
      new Map([
        ['patch', patch],
        ['roll-on', rollOn],
      ]),
    );
  assert.deepEqual(answer('failed', 'skipped'), { value: true });
  assert.deepEqual(answer('succeeded', 'skipped'), { value: false });
  assert.deepEqual(answer('succeeded', 'degraded'), { value: true });
  for (const end of STEP_ENDS) assert.ok(isEnd(end));
});
