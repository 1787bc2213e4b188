/** How each task of a playbook run ended on each host: a table that is read without colours. */
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { CELL_WORDS } from './text.ts';

type Hosts = Projected<'playbook.hosts'>;

/** Columns of the table; of more tasks those are shown in which something changed or failed. */
const TASKS_SHOWN = 40;
/** Letters of tasks that did nothing. */
const QUIET = new Set(['o', 's', '.', undefined]);

export function matrixHtml(data: Hosts): Html {
  const { tasks, hosts } = data;
  if (tasks.length === 0 || hosts.length === 0) return html``;
  const shown = tasksShown(data);
  const heads = shown.map((at) => html`<th scope="col">${at + 1}</th>`);
  const rows = hosts.map(({ host, cells }) => {
    const marks = shown.map((at) => cellHtml(cells[at] ?? '.'));
    return html`<tr><th scope="row">${host}</th>${marks}</tr>\n`;
  });
  const names = shown.map((at) => {
    const { play, task } = tasks[at] ?? { play: '', task: '' };
    return html`<li value="${at + 1}"><bdi>${play}</bdi>: <bdi>${task}</bdi></li>\n`;
  });
  const legend = CELL_WORDS.map(([letter, word], i) => html`${i === 0 ? '' : ', '}<b>${letter}</b> ${word}`);
  return html`<h2 id="matrix">Tasks by host</h2>
${leftOut(data, shown.length)}<p class="soft">${legend}</p>
<div class="wide" role="region" aria-labelledby="matrix" tabindex="0">
<table class="matrix">
<thead><tr><th scope="col">Host</th>${heads}</tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
<ol class="tasks">
${names}</ol>
`;
}

function cellHtml(letter: string): Html {
  const hue = HUES[letter];
  if (letter === '.') return html`<td></td>`;
  return hue === undefined ? html`<td>${letter}</td>` : html`<td class="${hue}">${letter}</td>`;
}

const HUES: Readonly<Record<string, string>> = { c: 'c-warn', f: 'c-fail', u: 'c-fail', i: 'c-wait', r: 'c-wait' };

/** The numbers of the tasks that have a column, in their order. */
function tasksShown({ tasks, hosts }: Hosts): number[] {
  const all = tasks.map((_, at) => at);
  if (all.length <= TASKS_SHOWN) return all;
  const loud = all.filter((at) => hosts.some(({ cells }) => !QUIET.has(cells[at])));
  const quiet = all.filter((at) => !loud.includes(at)).slice(0, Math.max(0, TASKS_SHOWN - loud.length));
  return [...loud.slice(0, TASKS_SHOWN), ...quiet].toSorted((a, b) => a - b);
}

function leftOut({ tasks, tasks_left_out: cut }: Hosts, shown: number): Html {
  const more = tasks.length + cut - shown;
  if (more === 0) return html``;
  return html`<p>${shown} of ${tasks.length + cut} tasks are shown: those in which something changed or failed first. \
The output of the job has all of them.</p>\n`;
}
