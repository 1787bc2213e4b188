import { Failure } from '../../../../domain/failure.ts';
import {
  Collector,
  type Imported,
  isGiven,
  type Json,
  nameOf,
  objectIn,
  objectsIn,
  readExport,
  textIn,
} from './imported.ts';
import { noteInventory, noteSource } from './needed.ts';
import { cronOfRule } from './recurrence.ts';

/** Fields of a template that no schedule has. */
const LOST = [
  ['extra_vars', 'its extra_vars are left out; add what has no secret'],
  ['become_enabled', 'its become_enabled is left out; write become: true into the playbook'],
  ['survey_enabled', 'its survey is left out'],
] as const;

/** What `awx export` prints: schedules of job templates become schedules. Throws invalid_argument. */
export async function importAwx(text: string): Promise<Imported> {
  const file = readExport(text);
  if (!Array.isArray(file['job_templates'])) throw new Failure('invalid_argument', 'file: it has no job_templates.');
  const found = await Collector.ofSchedules();
  for (const each of objectsIn(file['projects']))
    noteSource(found, textIn(each['name']), textIn(each['scm_url']), textIn(each['scm_branch']));
  for (const each of objectsIn(file['inventory'])) noteInventory(found, textIn(each['name']));
  for (const { each } of found.objects(file['job_templates'], 'job template')) importTemplate(found, each);
  for (const section of ['workflow_job_templates', 'credentials', 'notification_templates'])
    for (const each of objectsIn(file[section]))
      found.leave(`${section} ${textIn(each['name']) ?? ''}`, 'it has no counterpart in a configuration file');
  return found;
}

function importTemplate(found: Collector, template: Json): void {
  const title = textIn(template['name']) ?? 'template';
  const playbook = textIn(template['playbook']);
  const source = textIn(objectIn(template['project'])['name']);
  const inventory = textIn(objectIn(template['inventory'])['name']);
  if (playbook === null || source === null || inventory === null)
    return found.leave(title, 'it has no playbook, project or inventory');
  const schedules = found.objects(objectIn(template['related'])['schedules'], `${title}, schedule`);
  if (schedules.length === 0) found.leave(title, 'it has no schedule; use svc playbook run or a rule');
  const losses = LOST.flatMap(([field, loss]) => (isGiven(template[field]) ? [loss] : []));
  const [limit, tags, skipped] = [template['limit'], template['job_tags'], template['skip_tags']].map(textIn);
  for (const { each: schedule, place } of schedules) {
    const rule = textIn(schedule['rrule']) ?? '';
    const times = cronOfRule(rule);
    const own = textIn(schedule['name']) ?? 'schedule';
    const what = `${title}, ${textIn(schedule['name']) ?? `schedule ${place}`}`;
    if (times === null) found.leave(what, `no cron line says ${rule.slice(0, 100)}`);
    else
      found.schedule(
        { title: `${title}-${own}`, what, losses },
        {
          ...times,
          playbook,
          source: nameOf(source),
          inventory: nameOf(inventory),
          ...(template['job_type'] === 'check' ? { check: true } : {}),
          ...(limit === null || limit === undefined ? {} : { limit }),
          ...(tags === null || tags === undefined ? {} : { tags: tags.split(',') }),
          ...(skipped === null || skipped === undefined ? {} : { skip_tags: skipped.split(',') }),
        },
      );
  }
}
