import { Failure } from '../../failure.ts';
import { Collector, type Imported, type Json, nameOf, objectIn, objectsIn, readExport, textIn } from './imported.ts';
import { noteInventory, noteSource } from './needed.ts';
import { cronOfRule } from './recurrence.ts';

/** What `awx export` prints: schedules of job templates become schedules. Throws invalid_argument. */
export function importAwx(text: string): Imported {
  const file = readExport(text);
  if (!Array.isArray(file['job_templates'])) throw new Failure('invalid_argument', 'file: it has no job_templates.');
  const found = new Collector();
  for (const each of objectsIn(file['projects']))
    noteSource(found, textIn(each['name']), textIn(each['scm_url']), textIn(each['scm_branch']));
  for (const each of objectsIn(file['inventory'])) noteInventory(found, textIn(each['name']));
  for (const template of objectsIn(file['job_templates'])) importTemplate(found, template);
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
  const schedules = objectsIn(objectIn(template['related'])['schedules']);
  if (schedules.length === 0) found.leave(title, 'it has no schedule; use svc playbook run or a rule');
  if (textIn(template['extra_vars']) !== null)
    found.note(`${title}: its extra_vars are left out; add what has no secret.`);
  const [limit, tags, skipped] = [template['limit'], template['job_tags'], template['skip_tags']].map(textIn);
  for (const schedule of schedules) {
    const rule = textIn(schedule['rrule']) ?? '';
    const times = cronOfRule(rule);
    const own = textIn(schedule['name']) ?? 'schedule';
    if (times === null) found.leave(`${title}, ${own}`, `no cron line says ${rule.slice(0, 100)}`);
    else
      found.schedule(`${title}-${own}`, {
        ...times,
        playbook,
        source: nameOf(source),
        inventory: nameOf(inventory),
        ...(limit === null || limit === undefined ? {} : { limit }),
        ...(tags === null || tags === undefined ? {} : { tags: tags.split(',') }),
        ...(skipped === null || skipped === undefined ? {} : { skip_tags: skipped.split(',') }),
      });
  }
}
