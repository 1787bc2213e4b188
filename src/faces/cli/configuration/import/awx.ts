import { type Fields, LeftOut } from './reading/fields.ts';
import { Collector, type Imported } from './imported.ts';
import { Needed, type Reference } from './needed.ts';
import { playbookEntry, variablesIn, type Vars, wordsIn } from './playbook-entry.ts';
import { readExport } from './reading/read-export.ts';
import { cronOfRule } from './recurrence.ts';

/** Fields that decide what is run, where, or on how many hosts at a time, with the values that decide nothing. */
const UNSAID: readonly (readonly [field: string, neutral: readonly string[]])[] = [
  ['scm_branch', []],
  ['start_at_task', []],
  ['forks', ['0']],
  ['job_slice_count', ['0', '1']],
];
const SECTIONS = ['workflow_job_templates', 'credentials', 'notification_templates'];

/** What the whole export has, for each of its schedules. */
interface Context {
  readonly found: Collector;
  readonly needed: Needed;
  readonly nowMs: number;
}

/** What `awx export` prints: schedules of job templates become schedules. Throws invalid_argument. */
export async function importAwx(text: string, nowMs: number): Promise<Imported> {
  const file = readExport(text, 'job_templates');
  const found = await Collector.create();
  const context = { found, needed: new Needed(found), nowMs };
  await found.each(file.objects('projects', 'project'), async (project) => readProject(context, project));
  await found.each(file.objects('inventory', 'inventory'), async (each) =>
    context.needed.addInventory(referenceOf(each), each),
  );
  await found.each(file.objects('job_templates', 'job template'), (each) => importTemplate(context, each));
  for (const section of SECTIONS)
    await found.each(file.objects(section, section), async (each) => {
      each.label = `${section} ${each.text('name') ?? ''}`;
      throw new LeftOut('it has no counterpart in a configuration file');
    });
  return found.finish(file);
}

function readProject({ needed }: Context, project: Fields): void {
  const type = project.text('scm_type') ?? 'manual';
  const [url, branch] = [project.text('scm_url'), project.text('scm_branch')];
  const reference = referenceOf(project);
  project.label = `project ${reference.title}`;
  if (type !== 'git' && url !== null)
    throw new LeftOut(`its files come by ${type.slice(0, 40)}; add a source of a directory`);
  needed.addSource(reference, project, { url, branch });
}

/** An object by its name and its organization, as it is and as others refer to it. */
function referenceOf(object: Fields): Reference {
  const title = object.text('name');
  if (title === null) throw new LeftOut('it has no name');
  return { title, key: JSON.stringify([title, object.fields('organization').text('name')]) };
}

async function importTemplate(context: Context, template: Fields): Promise<void> {
  const title = template.text('name') ?? 'template';
  template.label = title;
  const related = template.fields('related');
  const schedules = related.objects('schedules', `${title}, schedule`);
  if (schedules.length === 0) throw new LeftOut('it has no schedule; use svc playbook run or a rule');
  const before = context.found.schedules.size;
  await context.found.each(schedules, (schedule, place) =>
    importSchedule(context, { title, template, schedule, place }),
  );
  if (context.found.schedules.size === before) template.drop();
  template.name(`template ${title}`);
}

interface Pair {
  readonly title: string;
  readonly template: Fields;
  readonly schedule: Fields;
  readonly place: string;
}

async function importSchedule({ found, needed, nowMs }: Context, pair: Pair): Promise<void> {
  const { title, template, schedule, place } = pair;
  const name = schedule.text('name');
  schedule.label = name === null ? place : `${title}, ${name}`;
  if (schedule.flag('enabled') === false) throw new LeftOut('it is disabled there');
  const playbook = template.text('playbook');
  if (playbook === null || !template.has('project')) throw new LeftOut('its template has no playbook or project');
  requireSaid(template, schedule);
  const times = cronOfRule(schedule.text('rrule') ?? '', nowMs);
  const jobType = promptedText(pair, 'job_type', 'ask_job_type_on_launch') ?? 'run';
  if (jobType !== 'run' && jobType !== 'check') throw new LeftOut(`its job_type is ${jobType.slice(0, 40)}`);
  const timeoutSeconds = secondsIn(promptedText(pair, 'timeout', 'ask_timeout_on_launch'));
  const extraVars = await variablesOf(pair);
  const entry = playbookEntry({
    ...times,
    playbook,
    source: needed.source(referenceOf(template.fields('project'))),
    inventory: needed.inventory(inventoryOf(pair)),
    check: jobType === 'check',
    diff: isDiff(pair),
    limit: promptedText(pair, 'limit', 'ask_limit_on_launch'),
    tags: wordsIn(promptedText(pair, 'job_tags', 'ask_tags_on_launch')),
    skipTags: wordsIn(promptedText(pair, 'skip_tags', 'ask_skip_tags_on_launch')),
    extraVars,
    timeoutSeconds,
  });
  const losses =
    template.flag('become_enabled') === true
      ? ['its become_enabled is left out; write become: true into the playbook']
      : [];
  await found.schedule({ title: `${title}-${name ?? 'schedule'}`, from: [schedule], losses }, entry);
}

/** Throws LeftOut for a run that a schedule has no fields for. */
function requireSaid(...both: readonly Fields[]): void {
  for (const each of both) {
    for (const [field, neutral] of UNSAID) {
      const value = each.text(field);
      if (value !== null && !neutral.includes(value)) throw new LeftOut(`a schedule has no field for its ${field}`);
    }
    if (each.fields('related').has('instance_groups'))
      throw new LeftOut('it runs in instance_groups, which a schedule does not have');
  }
}

/** A value of the schedule, where it has one and its template asks for it; else that of the template. */
function promptedText({ template, schedule }: Pair, field: string, ask: string): string | null {
  const [own, standard] = [schedule.text(field), template.text(field)];
  if (own === null || own === standard) {
    template.flag(ask);
    return standard;
  }
  requireAsked(template, ask, field);
  return own;
}

/** AWX ignores a value that the template does not ask for: it says something else than what is run. */
function requireAsked(template: Fields, ask: string, field: string): void {
  if (template.flag(ask) === false) throw new LeftOut(`its template does not ask for its ${field}`);
}

/** Null without a time-out. Throws LeftOut for one that decides something else than a number of seconds. */
function secondsIn(timeout: string | null): number | null {
  if (timeout !== null && !/^\d+$/.test(timeout))
    throw new LeftOut(`its timeout is ${JSON.stringify(timeout.slice(0, 40))}; expected whole seconds, at least 0`);
  return timeout === null ? null : Number(timeout);
}

function isDiff({ template, schedule }: Pair): boolean {
  const [own, standard] = [schedule.flag('diff_mode'), template.flag('diff_mode') ?? false];
  if (own !== null && own !== standard) requireAsked(template, 'ask_diff_mode_on_launch', 'diff_mode');
  return own ?? standard;
}

function inventoryOf({ template, schedule }: Pair): Reference {
  const standard = template.has('inventory') ? referenceOf(template.fields('inventory')) : null;
  const own = schedule.has('inventory') ? referenceOf(schedule.fields('inventory')) : null;
  if (own !== null && own.key !== standard?.key) requireAsked(template, 'ask_inventory_on_launch', 'inventory');
  const reference = own ?? standard;
  if (reference === null) throw new LeftOut('it has no inventory');
  return reference;
}

/** The variables of the template with those of the schedule, which come first. */
async function variablesOf({ template, schedule }: Pair): Promise<Vars> {
  const standard = await variablesIn(template, 'extra_vars');
  const own = await variablesIn(schedule, 'extra_data');
  const asked = template.flag('survey_enabled') === true ? surveyed(template) : [];
  const missing = asked.find((name) => !Object.hasOwn(own, name));
  if (missing !== undefined)
    throw new LeftOut(`its survey decides the variable ${missing.slice(0, 80)}, which the schedule does not have`);
  if (Object.keys(own).some((name) => !asked.includes(name)))
    requireAsked(template, 'ask_variables_on_launch', 'extra_data');
  return { ...standard, ...own };
}

/** The variables of a survey. */
function surveyed(template: Fields): string[] {
  const survey = template.fields('related').fields('survey_spec');
  if (!survey.isList('spec')) throw new LeftOut('its survey is not in the file, and decides variables');
  const questions = survey.objects('spec', `${template.label}, question`);
  return questions.map(({ fields }) => fields?.text('variable') ?? '');
}
