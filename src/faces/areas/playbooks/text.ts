import type { Projected } from '../../../views/views.ts';
import type { Paint } from '../../text/display.ts';
import { type Block, sheet, table, type Text } from '../../text/blocks.ts';

type Hosts = Projected<'playbook.hosts'>;

/** What each letter of a cell means, in the order of a legend. */
export const CELL_WORDS = [
  ['o', 'ok'],
  ['c', 'changed'],
  ['f', 'failed'],
  ['u', 'unreachable'],
  ['s', 'skipped'],
  ['i', 'failure ignored'],
  ['r', 'rescued'],
  ['.', 'not reached'],
] as const;

function playbookHosts(data: Hosts): Text {
  return [...hostBlocks(data), '\n', taskTable(data), `${CELL_WORDS.map((pair) => pair.join(' ')).join(', ')}.\n`];
}

/** The hosts by their counts, and how many there are besides. */
export function hostBlocks(data: Hosts): Block[] {
  const faulty = data.hosts.filter(({ failures, unreachable }) => failures + unreachable > 0).length;
  const head = sheet([
    ['Hosts', `${data.hosts.length}, of them ${faulty} failed or unreachable`],
    ['Not shown', data.hosts_left_out === 0 ? null : `${data.hosts_left_out} more hosts`],
  ]);
  const hosts = table(data.hosts, 'No host ran anything.', [
    { title: 'HOST', cell: (each) => each.host, mayCut: true },
    { title: 'OK', cell: (each) => String(each.ok) },
    { title: 'CHANGED', cell: (each) => String(each.changed) },
    { title: 'FAILED', cell: (each) => String(each.failures), paint: (each) => alarming(each.failures) },
    { title: 'UNREACHABLE', cell: (each) => String(each.unreachable), paint: (each) => alarming(each.unreachable) },
    { title: 'FIRST FAILURE', cell: (each) => failureOf(each, data), mayCut: true },
  ]);
  return [head, '\n', hosts];
}

function alarming(count: number): Paint | undefined {
  return count === 0 ? undefined : 'red';
}

function failureOf({ failure }: Hosts['hosts'][number], { tasks }: Hosts): string {
  if (failure === null) return '-';
  const { task } = tasks[failure.task] ?? { task: '' };
  return `${failure.task + 1} ${task}: ${failure.message}`;
}

/** The tasks, each with a letter for each host. */
function taskTable({ tasks, hosts, tasks_left_out: cut }: Hosts): Block {
  const rows = tasks.map((each, at) => ({ ...each, at }));
  const more = cut === 0 ? [] : [{ play: '', task: `${cut} more tasks`, at: -1 }];
  return table([...rows, ...more], 'No task began.', [
    { title: 'TASK', cell: ({ at }) => (at < 0 ? '' : String(at + 1)) },
    { title: 'NAME', cell: ({ play, task }) => (play === '' ? task : `${play}: ${task}`), mayCut: true },
    { title: 'HOSTS', cell: ({ at }) => hosts.map(({ cells }) => cells[at] ?? '.').join(''), mayCut: true },
  ]);
}

export const PLAYBOOKS_TEXTS = { 'playbook.hosts': playbookHosts };
