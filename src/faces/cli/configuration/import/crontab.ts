import { Failure } from '../../../../domain/failure.ts';
import { Fields, LeftOut } from './reading/fields.ts';
import { Collector, type Imported } from './imported.ts';
import { checkSize } from './reading/read-export.ts';

/** A line of five fields for each word that stands for one, as crontab(5) of Debian has them. */
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const VARIABLE = /^([A-Za-z_]\w*)\s*=\s*(.*)$/;
const NICKNAMED = /^(@[a-z]+)\s+(.+)$/;
const FIVE_FIELDS = /^((?:\S+\s+){4}\S+)\s+(.+)$/;
/**
 * In the heading of /etc/crontab: a user before the command. The first form is that of Debian up to 10, the second that
 * of later ones.
 */
const USER_HEADING = /^#.*\b(?:dow\s+user|user-name)\b/;
/** A command without any of these needs no shell. */
const SHELL = /[\\"'$`|&;<>(){}*?[\]~#!=\n]/;

/** What to do instead of each variable; the default is for those of commands. */
const INSTEAD: Readonly<Record<string, string>> = {
  MAILTO: 'the output is kept with each job; for messages see svc serve --notify',
  MAILFROM: 'the output is kept with each job; for messages see svc serve --notify',
  SHELL: 'a command that needs a shell runs as sh -c',
  RANDOM_DELAY: 'jobs are queued at the minute of their times',
};

/**
 * A crontab of a user, or one with users as /etc/crontab: each line becomes a schedule. Throws invalid_argument where
 * no line is one.
 */
export async function importCrontab(text: string): Promise<Imported> {
  checkSize(text);
  const found = await Collector.create();
  const lines = text.split(/\r?\n/);
  const hasUsers = lines.some((line) => USER_HEADING.test(line));
  const file = new Fields({ lines: lines.map((line) => fieldsOf(line.trim(), hasUsers)) }, 'file');
  const reading: Reading = { found, timezone: null, first: null, hasTimes: false };
  await found.each(file.objects('lines', 'line'), (line) => importLine(reading, line));
  const { hasTimes, first } = reading;
  if (!hasTimes) throw new Failure('invalid_argument', `file: no line is one of a crontab${first ?? ''}.`);
  if ([...found.schedules.values()].some((each) => each['timezone'] === undefined))
    found.note('Times are in UTC where a schedule has no timezone; write timezone: into it for another zone.');
  if (found.schedules.size > 0)
    found.note('Schedules are disabled; remove "enabled: false" once the crontab does not run them any more.');
  return found.finish(file);
}

/** The parts of a line; none of a comment. */
function fieldsOf(line: string, hasUsers: boolean): Readonly<Record<string, string>> {
  if (line === '' || line.startsWith('#')) return {};
  const [, variable, value = ''] = VARIABLE.exec(line) ?? [];
  if (variable !== undefined) return { variable, value };
  const [, nickname, ofNickname] = NICKNAMED.exec(line) ?? [];
  const [, five = '', ofFive = ''] = FIVE_FIELDS.exec(line) ?? [];
  const rest = ofNickname ?? ofFive;
  const user = hasUsers ? (/^\S+/.exec(rest)?.[0] ?? '') : '';
  return { times: nickname ?? five.split(/\s+/).join(' '), line, user, command: rest.slice(user.length).trim() };
}

interface Reading {
  readonly found: Collector;
  /** Of the lines that follow. */
  timezone: string | null;
  /** What is wrong with the first line whose times no schedule takes. */
  first: string | null;
  /** Whether a line has times of a crontab. */
  hasTimes: boolean;
}

async function importLine(reading: Reading, line: Fields): Promise<void> {
  if (line.has('variable')) return readVariable(reading, line);
  if (!line.has('line')) return;
  line.whole('line');
  const times = line.text('times');
  const cron = times?.startsWith('@') === true ? NICKNAMES[times] : times;
  const fault =
    cron === undefined || cron === null ? (times ?? 'it is no line of a crontab') : reading.found.timesFault(cron);
  reading.hasTimes ||= fault === null || times === '@reboot';
  if (fault !== null) reading.first ??= `; ${line.label}: ${fault}`;
  if (fault !== null || typeof cron !== 'string') throw new LeftOut(fault ?? '');
  await importCommand(reading, line, cron);
}

async function readVariable(reading: Reading, line: Fields): Promise<void> {
  const name = (line.text('variable') ?? '').slice(0, 60);
  const value = line.text('value');
  if (name === 'CRON_TZ') reading.timezone = (value ?? '').replaceAll(/["']/g, '').trim() || null;
  else {
    const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : `a command can set it: env ${name}=VALUE COMMAND`;
    throw new LeftOut(`the variable ${name}; ${instead}`);
  }
}

async function importCommand({ found, timezone }: Reading, line: Fields, cron: string): Promise<void> {
  const [user, command] = [line.text('user'), line.text('command')];
  if (command === null) throw new LeftOut('it has no command');
  // An unescaped % begins the standard input of the command.
  if (/(?<!\\)%/.test(command)) throw new LeftOut('its command has a standard input (%)');
  if (command.startsWith('-')) throw new LeftOut('its command begins with an option of cron');
  const plain = command.replaceAll(String.raw`\%`, '%');
  const words = SHELL.test(plain) ? ['sh', '-c', plain] : plain.split(/\s+/);
  const ranAs = `it ran as ${user?.slice(0, 60)} (${line.label}); jobs run as the account of jobs`;
  const [program = ''] = plain.split(/\s/, 1);
  const title = program.slice(program.lastIndexOf('/') + 1);
  await found.schedule(
    { title, from: [line], losses: user === null ? [] : [ranAs] },
    { cron, ...(timezone === null ? {} : { timezone }), command: words, inventory: 'localhost' },
  );
}
