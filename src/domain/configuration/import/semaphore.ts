import { Failure } from '../../failure.ts';
import { Collector, type Imported, type Json, nameOf, objectsIn, readExport, textIn } from './imported.ts';
import { noteInventory, noteSource } from './needed.ts';

/** A backup of a project of Semaphore: schedules of Ansible templates become schedules. Throws invalid_argument. */
export function importSemaphore(text: string): Imported {
  const file = readExport(text);
  if (!Array.isArray(file['templates'])) throw new Failure('invalid_argument', 'file: it has no templates.');
  const found = new Collector();
  for (const each of objectsIn(file['repositories']))
    noteSource(found, textIn(each['name']), textIn(each['git_url']), textIn(each['git_branch']));
  for (const each of objectsIn(file['inventories'])) noteInventory(found, textIn(each['name']));
  const schedules = Map.groupBy(objectsIn(file['schedules']), (each) => textIn(each['template']) ?? '');
  for (const template of objectsIn(file['templates'])) {
    const title = textIn(template['name']) ?? 'template';
    const own = textIn(template['cron']);
    for (const each of schedules.get(title) ?? [])
      if (textIn(each['cron_format']) === null)
        found.leave(`${title} (${textIn(each['name']) ?? 'schedule'})`, 'it runs once');
    const times = [
      ...(own === null ? [] : [own]),
      ...(schedules.get(title) ?? []).flatMap((each) => textIn(each['cron_format']) ?? []),
    ];
    importTemplate(found, title, template, times);
  }
  for (const section of ['environments', 'keys', 'integrations'])
    for (const each of objectsIn(file[section]))
      found.leave(`${section} ${textIn(each['name']) ?? ''}`, 'keep secrets with svc secret set');
  return found;
}

function importTemplate(found: Collector, title: string, template: Json, times: readonly string[]): void {
  const playbook = textIn(template['playbook']);
  const [source, inventory] = [textIn(template['repository']), textIn(template['inventory'])];
  const app = textIn(template['app']) ?? 'ansible';
  if (app !== 'ansible') return found.leave(title, `templates of ${app.slice(0, 40)} have no counterpart`);
  if (playbook === null || source === null || inventory === null)
    return found.leave(title, 'it has no playbook, repository or inventory');
  if (times.length === 0) return found.leave(title, 'it has no schedule; use svc playbook run or a rule');
  if (textIn(template['arguments']) !== null && template['arguments'] !== '[]')
    found.note(`${title}: its arguments are left out.`);
  for (const cron of times)
    found.schedule(title, { cron, playbook, source: nameOf(source), inventory: nameOf(inventory) });
}
