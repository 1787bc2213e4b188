import { LeftOut } from './reading/fields.ts';

/** The times of a recurrence rule (RFC 5545) as fields of a schedule. */
interface Times {
  readonly cron: string;
  readonly timezone?: string;
}

/** One start and one rule: a further rule, or one that takes times away, is not accepted. */
const WHOLE = new RegExp(
  String.raw`^DTSTART(?:;TZID=([A-Za-z0-9_+/-]{1,100}))?:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z?)` +
    String.raw`\s+RRULE:([A-Z0-9=;,+-]{1,500})$`,
);
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
/** Parts that a cron line can say, and ones without effect on it. */
const KNOWN = ['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'WKST'];

/** Throws LeftOut for a rule that no cron line says, such as one with an end, every other week, or a later start. */
export function cronOfRule(text: string, nowMs: number): Times {
  const unsaid = new LeftOut(`no cron line says ${text.slice(0, 100)}`);
  const [, zone, year, month, day, hour, minute, second, utc, rule = ''] = WHOLE.exec(text.trim()) ?? [];
  const parts = partsOf(rule);
  const isZoned = (zone === undefined) === (utc === 'Z');
  if (parts === null || !isZoned || second !== '00') throw unsaid;
  const dayMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(dayMs)) throw unsaid;
  if (dayMs > nowMs) throw new LeftOut(`it begins on ${year}-${month}-${day}; a schedule begins when it is enabled`);
  const start = { minute: Number(minute), hour: Number(hour), day: Number(day), weekday: new Date(dayMs).getUTCDay() };
  const cron = cronOf(parts, start);
  if (cron === null) throw unsaid;
  return zone === undefined || zone === 'UTC' ? { cron } : { cron, timezone: zone };
}

/** Null where a part is unknown, or given twice. */
function partsOf(rule: string): ReadonlyMap<string, string> | null {
  const parts = rule.split(';').map((part) => part.split('=', 2) as [string, string]);
  const byName = new Map(parts);
  return byName.size === parts.length && parts.every(([name]) => KNOWN.includes(name)) ? byName : null;
}

interface Start {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

function cronOf(parts: ReadonlyMap<string, string>, { minute, hour, day, weekday }: Start): string | null {
  const interval = parts.get('INTERVAL') ?? '1';
  const days = daysIn(parts.get('BYDAY'));
  const monthDay = parts.get('BYMONTHDAY');
  const frequency = parts.get('FREQ');
  if (days === null || !/^[1-9]\d{0,3}$/.test(interval)) return null;
  const every = Number(interval);
  if (frequency === 'MONTHLY') {
    const dayOfMonth = monthDay ?? String(day);
    const isOne = every === 1 && days === '*' && /^(?:[1-9]|[12]\d|3[01])$/.test(dayOfMonth);
    return isOne ? `${minute} ${hour} ${dayOfMonth} * *` : null;
  }
  if (monthDay !== undefined) return null;
  if (frequency === 'MINUTELY') return 60 % every === 0 ? `${stepsOf(minute, every, 60)} * * * ${days}` : null;
  if (frequency === 'HOURLY') return 24 % every === 0 ? `${minute} ${stepsOf(hour, every, 24)} * * ${days}` : null;
  if (every !== 1) return null;
  if (frequency === 'DAILY') return `${minute} ${hour} * * ${days}`;
  return frequency === 'WEEKLY' ? `${minute} ${hour} * * ${days === '*' ? weekday : days}` : null;
}

/** Each `every` of `all` minutes or hours, so that `start` is one of them. */
function stepsOf(start: number, every: number, all: number): string {
  const first = start % every;
  if (every === 1) return '*';
  if (every === all) return String(first);
  return first === 0 ? `*/${every}` : `${first}-${all - 1}/${every}`;
}

/** `MO,FR` as `1,5`; `*` without days, and null for days such as the first Monday. */
function daysIn(text: string | undefined): string | null {
  if (text === undefined) return '*';
  const days = text.split(',').map((each) => DAYS.indexOf(each));
  return days.includes(-1) ? null : days.toSorted((a, b) => a - b).join(',');
}
