import { Failure } from '../../../../domain/failure.ts';
import { Collector, type Imported, isGiven, type Json, nameOf, objectsIn, readExport, textIn } from './imported.ts';
import { noteInventory, noteSource } from './needed.ts';

/** The times of a template, with the names that its schedule has there. */
interface Times {
  readonly cron: string;
  readonly title: string;
  readonly what: string;
}

/** A backup of a project of Semaphore: schedules of Ansible templates become schedules. Throws invalid_argument. */
export async function importSemaphore(text: string): Promise<Imported> {
  const file = readExport(text);
  if (!Array.isArray(file['templates'])) throw new Failure('invalid_argument', 'file: it has no templates.');
  const found = await Collector.ofSchedules();
  for (const each of objectsIn(file['repositories']))
    noteSource(found, textIn(each['name']), textIn(each['git_url']), textIn(each['git_branch']));
  for (const each of objectsIn(file['inventories'])) noteInventory(found, textIn(each['name']));
  const templates = found.objects(file['templates'], 'template').map(({ each }) => each);
  const times = timesByTemplate(found, file['schedules'], new Set(templates.map(titleOf)));
  for (const template of templates) importTemplate(found, template, times.get(titleOf(template)) ?? []);
  for (const section of ['environments', 'keys', 'integrations'])
    for (const each of objectsIn(file[section]))
      found.leave(`${section} ${textIn(each['name']) ?? ''}`, 'keep secrets with svc secret set');
  return found;
}

function titleOf(template: Json): string {
  return textIn(template['name']) ?? 'template';
}

function timesByTemplate(found: Collector, schedules: unknown, templates: ReadonlySet<string>): Map<string, Times[]> {
  const byTemplate = new Map<string, Times[]>();
  for (const { each, place } of found.objects(schedules, 'schedule')) {
    const template = textIn(each['template']) ?? '';
    const own = textIn(each['name']);
    const cron = textIn(each['cron_format']);
    const what = `${template} (${own ?? `schedule ${place}`})`;
    if (!templates.has(template))
      found.leave(
        own ?? `schedule ${place}`,
        `its template ${JSON.stringify(template.slice(0, 100))} is missing in the file`,
      );
    else if (cron === null)
      found.leave(what, textIn(each['run_at']) === null ? 'it has no cron_format' : 'it runs once');
    else {
      const times = byTemplate.get(template) ?? [];
      byTemplate.set(template, times);
      times.push({ cron, title: own ?? template, what });
    }
  }
  return byTemplate;
}

function importTemplate(found: Collector, template: Json, schedules: readonly Times[]): void {
  const title = titleOf(template);
  const playbook = textIn(template['playbook']);
  const [source, inventory] = [textIn(template['repository']), textIn(template['inventory'])];
  const app = textIn(template['app']) ?? 'ansible';
  if (app !== 'ansible') return found.leave(title, `templates of ${app.slice(0, 40)} have no counterpart`);
  if (playbook === null || source === null || inventory === null)
    return found.leave(title, 'it has no playbook, repository or inventory');
  const own = textIn(template['cron']);
  const times = [...(own === null ? [] : [{ cron: own, title, what: title }]), ...schedules];
  if (times.length === 0) return found.leave(title, 'it has no schedule; use svc playbook run or a rule');
  const losses = [
    ...(isGiven(template['arguments']) && template['arguments'] !== '[]' ? ['its arguments are left out'] : []),
    ...(isGiven(template['survey_vars']) ? ['its survey_vars are left out'] : []),
  ];
  for (const { cron, ...each } of times)
    found.schedule({ ...each, losses }, { cron, playbook, source: nameOf(source), inventory: nameOf(inventory) });
}
