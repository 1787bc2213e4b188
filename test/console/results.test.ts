/** Results of playbooks and steps of workflows, as a browser without scripts gets them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toJson } from '../../src/lib/json.ts';
import { graphHtml } from '../../src/faces/areas/workflows/graph.ts';
import { matrixHtml } from '../../src/faces/areas/playbooks/matrix.ts';
import { startProgram } from '../support/program.ts';
import { EVIL, onMachine, tellStory } from '../support/console/story.ts';
import { visit } from '../support/console/visitor.ts';

const COUNTS = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };

function run(tasks: number, cells: readonly string[], cut = 0): Parameters<typeof matrixHtml>[0] {
  return {
    job_id: 'job_1',
    tasks: Array.from({ length: tasks }, (_, i) => ({ play: 'Site', task: `task ${i + 1}` })),
    tasks_left_out: cut,
    hosts: cells.map((each, i) => ({ host: `h${i}`, ...COUNTS, failure: null, cells: each })),
    hosts_left_out: 0,
  };
}

const columnsOf = (text: string): number[] =>
  [...text.matchAll(/<th scope="col">(\d+)<\/th>/g)].map(([, number]) => Number(number));

describe('Results in the console', () => {
  it('a playbook shows each host and task, the faulty hosts first, and what is left out', async (t) => {
    const program = await startProgram(t);
    const { id } = await tellStory(program);
    const visitor = await visit(program, program.tokens.readonly);
    assert.match((await visitor.open(`/jobs/${id.jobs}`)).text, new RegExp(`/jobs/${id.jobs}/hosts">2 hosts, task`));
    const { status, text } = await visitor.open(`/jobs/${id.jobs}/hosts`);
    assert.equal(status, 200);
    assert.match(text, /2, of them 1 failed or unreachable/);
    assert.match(text, /<tr><th scope="row">&quot;&gt;&lt;img.*<td>o<\/td><td class="c-fail">f<\/td><\/tr>\n<tr><th/);
    assert.match(text, /<th scope="row">web1<\/th><td>o<\/td><td class="c-warn">c<\/td>/);
    assert.match(text, /2 of 5 tasks are shown/);
    assert.ok(!text.includes(EVIL));
    assert.equal((await visitor.open(`/jobs/${await program.queue()}/hosts`)).status, 409);
  });

  it('a job that runs shows what it does and how long it took before, after three successes', async (t) => {
    const program = await startProgram(t);
    const visitor = await visit(program, program.tokens.readonly);
    const run = async (minutes: number): Promise<string> => {
      const id = await program.queue();
      await program.claim();
      const started = Date.now() - minutes * 60_000;
      const progress = toJson({ play: EVIL, task: 'Install' });
      const values = { started_at: started, progress };
      await program.store.write(({ db }) => db.updateTable('jobs').set(values).where('id', '=', id).execute());
      return id;
    };
    const shown = async (id: string): Promise<string> =>
      /<p class="progress">.*?<\/p>/s.exec((await visitor.open(`/jobs/${id}`)).text)?.[0] ?? '';
    for (const minutes of [2, 30, 4]) {
      const id = await run(minutes);
      const text = await shown(id);
      assert.match(text, /play <b>&quot;&gt;.*<\/b> · task <b>Install<\/b> · \d+m(?:\d+s)?<\/p>/, 'too few to compare');
      await program.finish(id, { state: 'succeeded', exitCode: 0 });
      assert.equal(await shown(id), '', 'it does not run any more');
    }
    const again = await run(1);
    assert.match(await shown(again), /1m(?:\d+s)?, usually 4m(?:\d+s)? <progress [^>]*max="2\d{5}" value="\d{5}">/);
    await program.finish(again, { state: 'failed', exitCode: 1 });
    const long = await shown(await run(9));
    assert.match(long, /9m(?:\d+s)?, longer than the usual 4m(?:\d+s)? <progress [^>]*max="(2\d{5})" value="\1">/);
    assert.doesNotMatch(long, /%/);
  });

  it('of many tasks those have a column in which something changed or failed', () => {
    const quiet = 'o'.repeat(60);
    const all = columnsOf(matrixHtml(run(40, [quiet])).text);
    assert.deepEqual([all.length, all[0], all.at(-1)], [40, 1, 40]);
    const { text } = matrixHtml(run(60, [quiet, `${'o'.repeat(49)}c${'s'.repeat(9)}f`], 7));
    const shown = columnsOf(text);
    assert.equal(shown.length, 40);
    assert.deepEqual([shown.at(-2), shown.at(-1)], [50, 60]);
    assert.match(text, /40 of 67 tasks are shown/);
    assert.match(text, /<li value="60"><bdi>Site<\/bdi>: <bdi>task 60<\/bdi>/);
    assert.equal(columnsOf(matrixHtml(run(60, ['c'.repeat(60)])).text).length, 40);
    assert.equal(matrixHtml(run(0, [])).text, '');
  });

  it('a workflow and its run are a graph with a text, and each step of the run leads to its job', async (t) => {
    const program = await startProgram(t);
    const { run: id } = await tellStory(program);
    const visitor = await visit(program, program.tokens.readonly);
    const words = /aria-label="prepare \(command on localhost\); left \(command on localhost\) after prepare;/;
    assert.match((await visitor.open('/workflows/patch')).text, words);
    const { text } = await visitor.open(`/runs/${id}`);
    assert.match(text, /<a href="\/jobs\/job_\w+"><g class="idle"><title>prepare: queued<\/title>/);
    assert.match(text, /finish \(waiting\) after left, right/);
    await onMachine(program, 'workflow.remove', { name: 'patch' });
    const removed = await visitor.open(`/runs/${id}`);
    assert.equal(removed.status, 200);
    assert.match(removed.text, /The workflow was removed: there is no graph/);
  });

  it('a graph places each step behind those that it needs, and none twice', () => {
    const { text } = graphHtml([
      { name: 'd', needs: ['b', 'c'], note: '' },
      { name: 'a', needs: [], note: '' },
      { name: 'b', needs: ['a'], note: '' },
      { name: 'c', needs: ['a'], note: EVIL },
      { name: 'alone', needs: ['gone'], note: '' },
    ]);
    const boxes = [...text.matchAll(/<title>(\w+): [^<]*<\/title><rect x="(\d+)" y="(\d+)"/g)];
    const places = new Map(boxes.map(([, name = '', x, y]) => [name, `${x} ${y}`]));
    assert.equal(new Set(places.values()).size, 5);
    const column = (name: string): number => Number(places.get(name)?.split(' ')[0]);
    assert.deepEqual(['a', 'b', 'c', 'd', 'alone'].map(column), [2, 226, 226, 450, 2]);
    assert.equal(text.match(/<path /g)?.length, 4);
    assert.ok(!text.includes('<img'));
    assert.equal(graphHtml([]).text, '');
    const circle = graphHtml([
      { name: 'x', needs: ['y'], note: '' },
      { name: 'y', needs: ['x'], note: '' },
    ]);
    assert.equal(circle.text.match(/<rect /g)?.length, 2);
  });
});
