import { type AnsibleArguments, readArguments } from './ansible-arguments.ts';
import { type Fields, LeftOut } from './reading/fields.ts';
import { Collector, type Imported } from './imported.ts';
import { Needed, type Reference } from './needed.ts';
import { playbookEntry, variablesIn, type Vars } from './playbook-entry.ts';
import { readExport } from './reading/read-export.ts';

/** The times of a template, and the parameters of its runs at these times. */
interface Times {
  readonly cron: string;
  readonly title: string;
  /** Null for the times that a template of an old backup has itself. */
  readonly schedule: Fields | null;
}

/** What the whole backup has, for each of its templates. */
interface Context {
  readonly found: Collector;
  readonly needed: Needed;
  readonly environments: ReadonlyMap<string, Fields>;
  /** Branches of repositories. */
  readonly branches: ReadonlyMap<string, string | null>;
}

/** A backup of a project of Semaphore: schedules of Ansible templates become schedules. Throws invalid_argument. */
export async function importSemaphore(text: string): Promise<Imported> {
  const file = readExport(text, 'templates');
  const found = await Collector.create();
  const needed = new Needed(found);
  const branches = new Map<string, string | null>();
  await found.each(file.objects('repositories', 'repository'), async (each) => {
    const reference = referenceOf(each);
    const [url, branch] = [each.text('git_url'), each.text('git_branch')];
    branches.set(reference.key, branch);
    needed.addSource(reference, each, { url, branch });
  });
  await found.each(file.objects('inventories', 'inventory'), async (each) =>
    needed.addInventory(referenceOf(each), each),
  );
  const environments = await environmentsIn(found, file);
  const templates = file.objects('templates', 'template');
  const times = await timesByTemplate(found, file, templates.flatMap(({ fields }) => fields ?? []).map(titleOf));
  const context = { found, needed, environments, branches };
  await found.each(templates, (template) => importTemplate(context, template, times.get(titleOf(template)) ?? []));
  for (const section of ['keys', 'integrations'])
    await found.each(file.objects(section, section), async (each) => {
      each.label = `${section} ${each.text('name') ?? ''}`;
      throw new LeftOut('keep secrets with svc secret set');
    });
  return found.finish(file);
}

function referenceOf(object: Fields): Reference {
  const title = object.text('name');
  if (title === null) throw new LeftOut('it has no name');
  return { title, key: title };
}

function titleOf(template: Fields): string {
  const title: unknown = template.whole('name');
  return typeof title === 'string' && title.trim() !== '' ? title.trim() : 'template';
}

async function environmentsIn(found: Collector, file: Fields): Promise<Map<string, Fields>> {
  const environments = new Map<string, Fields>();
  await found.each(file.objects('environments', 'environment'), async (each) => {
    const { title } = referenceOf(each);
    each.label = `environment ${title}`;
    environments.set(title, each);
  });
  return environments;
}

async function timesByTemplate(
  found: Collector,
  file: Fields,
  templates: readonly string[],
): Promise<Map<string, Times[]>> {
  const byTemplate = new Map<string, Times[]>();
  const known = new Set(templates);
  await found.each(file.objects('schedules', 'schedule'), async (schedule, place) => {
    const template = schedule.text('template') ?? '';
    const own = schedule.text('name');
    schedule.label = own ?? place;
    if (!known.has(template))
      throw new LeftOut(`its template ${JSON.stringify(template.slice(0, 100))} is missing in the file`);
    schedule.label = `${template} (${own ?? place})`;
    if (schedule.flag('active') === false) throw new LeftOut('it is disabled there');
    const [cron, type] = [schedule.text('cron_format'), schedule.text('type')];
    const isOnce = type === 'run_at' || schedule.has('run_at') || schedule.flag('delete_after_run') === true;
    if (isOnce) throw new LeftOut('it runs once');
    if (type !== null) throw new LeftOut(`its type is ${type.slice(0, 40)}`);
    if (schedule.has('repository') || schedule.has('repository_id'))
      throw new LeftOut('it runs only after a new commit');
    if (cron === null) throw new LeftOut('it has no cron_format');
    const times = byTemplate.get(template) ?? [];
    byTemplate.set(template, times);
    times.push({ cron, title: own ?? template, schedule });
  });
  return byTemplate;
}

async function importTemplate(context: Context, template: Fields, schedules: readonly Times[]): Promise<void> {
  const title = titleOf(template);
  template.label = title;
  const own = template.text('cron');
  const all = [...(own === null ? [] : [{ cron: own, title, schedule: null }]), ...schedules];
  try {
    requireKnown(template);
    if (all.length === 0) throw new LeftOut('it has no schedule; use svc playbook run or a rule');
  } catch (error) {
    for (const { schedule } of all) schedule?.drop();
    throw error;
  }
  const before = context.found.schedules.size;
  for (const times of all) {
    const label = times.schedule?.label ?? title;
    const isImported = await context.found.attempt(
      () => label,
      () => importTimes(context, template, times),
    );
    if (!isImported) times.schedule?.drop();
  }
  if (context.found.schedules.size === before) template.drop();
  template.name(`template ${title}`);
}

/** Throws LeftOut for a template that is no playbook, or that runs elsewhere. */
function requireKnown(template: Fields): void {
  const app = template.text('app') ?? 'ansible';
  if (app !== 'ansible') throw new LeftOut(`templates of ${app.slice(0, 40)} have no counterpart`);
  if (!template.has('playbook') || !template.has('repository'))
    throw new LeftOut('it has no playbook, repository or inventory');
  if (template.has('runner_tag')) throw new LeftOut('it runs on runners with a tag, which a schedule does not have');
}

async function importTimes(context: Context, template: Fields, times: Times): Promise<void> {
  const { found, needed, branches } = context;
  const given = times.schedule?.fields('task_params') ?? null;
  const repository = template.text('repository') ?? '';
  const inventory = inventoryOf(template, given);
  for (const each of [template, given])
    if (each?.text('git_branch') !== (branches.get(repository) ?? null) && each?.has('git_branch') === true)
      throw new LeftOut('a schedule has no field for its git_branch');
  if (given?.has('secret') === true && given.text('secret') !== '{}')
    throw new LeftOut('its secret variables have no place in a file; keep them with svc secret set');
  const said = argumentsOf(template, given);
  const run = paramsOf(template, given, said);
  const extraVars = await variablesOf(context, template, given);
  requireAnswers(template, extraVars);
  const entry = playbookEntry({
    cron: times.cron,
    playbook: given?.text('playbook') ?? template.text('playbook') ?? '',
    source: needed.source({ key: repository, title: repository }),
    inventory: needed.inventory({ key: inventory, title: inventory }),
    ...run,
    extraVars,
    timeoutSeconds: null,
  });
  const losses = said.left.map((word) => `its argument ${word} is left out`);
  if (template.has('survey_vars')) losses.push('its survey_vars are left out');
  const from = times.schedule === null ? [] : [times.schedule];
  await found.schedule({ title: times.title, from, losses }, entry);
}

/** Throws LeftOut where the survey of the template requires a variable that the run does not have. */
function requireAnswers(template: Fields, vars: Vars): void {
  if (!template.has('survey_vars')) return;
  if (!template.isList('survey_vars')) throw new LeftOut('its field survey_vars is not a list');
  for (const { fields } of template.objects('survey_vars', `${template.label}, survey variable`)) {
    const name = fields?.text('name') ?? '';
    if (!Object.hasOwn(vars, name) && fields?.flag('required') === true)
      throw new LeftOut(
        `its survey requires the variable ${JSON.stringify(name.slice(0, 80))}, ` +
          'which neither its environments nor its schedule have',
      );
  }
}

function inventoryOf(template: Fields, given: Fields | null): string {
  const standard = template.text('inventory');
  const own = given?.text('inventory') ?? null;
  const mayOverride = template.fields('task_params').flag('allow_override_inventory');
  if (own !== null && own !== standard && mayOverride === false)
    throw new LeftOut('its template does not take its inventory');
  const inventory = own ?? standard;
  if (inventory === null) throw new LeftOut('it has no playbook, repository or inventory');
  return inventory;
}

function argumentsOf(template: Fields, given: Fields | null): AnsibleArguments {
  const mayOverride = template.flag('allow_override_args_in_task') ?? false;
  const standard = wordsOf(template);
  const own = given?.has('arguments') === true ? wordsOf(given) : standard;
  if (!mayOverride && own.join('\0') !== standard.join('\0'))
    throw new LeftOut('its template does not take its arguments');
  return readArguments(own);
}

/** A list of JSON, or its text. */
function wordsOf(fields: Fields): readonly string[] {
  const value = fields.whole('arguments');
  if (!fields.has('arguments')) return [];
  const list: unknown = typeof value === 'string' ? jsonIn(value) : value;
  if (!Array.isArray(list) || !list.every((word) => typeof word === 'string'))
    throw new LeftOut('its field arguments is not a list of texts');
  return list;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Selection = Pick<AnsibleArguments, 'limit' | 'tags' | 'skipTags' | 'check' | 'diff'>;

/** What the parameters of the template and of the schedule select, beside the arguments. */
function paramsOf(template: Fields, given: Fields | null, said: AnsibleArguments): Selection {
  const standard = template.fields('task_params');
  const own = given?.fields('params') ?? null;
  const list = (field: string, allow: string): readonly string[] => {
    const ofTemplate = wordsIn(standard, field);
    const ofSchedule = own === null ? [] : wordsIn(own, field);
    const mayOverride = standard.flag(allow);
    if (ofSchedule.length === 0 || ofSchedule.join(',') === ofTemplate.join(',')) return ofTemplate;
    if (mayOverride === false) throw new LeftOut(`its template does not take its ${field}`);
    return ofSchedule;
  };
  const old = given === null ? [] : wordsIn(given, 'limit');
  const limits = [list('limit', 'allow_override_limit').join(','), old.join(','), said.limit ?? ''];
  const [limit = null, ...others] = new Set(limits.filter((each) => each !== ''));
  if (others.length > 0) throw new LeftOut('it has more than one limit');
  return {
    limit,
    tags: [...new Set([...list('tags', 'allow_override_tags'), ...said.tags])],
    skipTags: [...new Set([...list('skip_tags', 'allow_override_skip_tags'), ...said.skipTags])],
    check: said.check || own?.flag('dry_run') === true,
    diff: said.diff || own?.flag('diff') === true,
  };
}

function wordsIn(fields: Fields, field: string): readonly string[] {
  const words = fields.texts(field).flatMap((text) => text.split(','));
  return words.map((word) => word.trim()).filter((word) => word !== '');
}

/**
 * Variables of the environments of the template, then those of the schedule, which come first. Throws LeftOut for an
 * environment with variables of the process: the playbook may read them, and a schedule has none.
 */
async function variablesOf({ environments }: Context, template: Fields, given: Fields | null): Promise<Vars> {
  let vars: Vars = {};
  for (const name of new Set([...template.texts('environment'), ...template.texts('environments')])) {
    const environment = environments.get(name);
    if (environment === undefined)
      throw new LeftOut(`its environment ${JSON.stringify(name.slice(0, 100))} is missing in the file`);
    if (Object.keys(await variablesIn(environment, 'env')).length > 0)
      throw new LeftOut(`a schedule has no field for env of its environment ${JSON.stringify(name.slice(0, 100))}`);
    vars = { ...vars, ...(await variablesIn(environment, 'json')) };
  }
  return given === null ? vars : { ...vars, ...(await variablesIn(given, 'environment')) };
}
