import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { CHECK_KINDS, type CheckKind, type CheckOptions } from '../../domain/checks/check.ts';
import { readOptions, showOptions } from '../../domain/checks/kinds.ts';
import type { OwnFields } from '../../domain/checks/kind.ts';
import { TargetReader } from '../../domain/checks/target.ts';
import { withCredentials } from '../../domain/checks/url.ts';
import type { Entry } from '../../domain/configuration/change.ts';
import { formatDuration } from '../../domain/duration.ts';
import { Failure } from '../../domain/failure.ts';
import { fromJson } from '../../lib/json.ts';
import { listChecks } from '../../store/checks/checks.ts';
import { listProbed, openTarget } from '../../store/checks/targets.ts';
import { interval, OWN_FIELDS, readInterval, targets } from './fields.ts';
import * as field from '../core/fields.ts';
import { jsonSchema } from '../core/json-schema.ts';
import {
  type Call,
  type ConfigSection,
  disabledOf,
  type StoredFrom,
  switchCalls,
  without,
} from '../core/sections/section.ts';
import { readEntry } from '../core/sections/read-entry.ts';

const entry = z.strictObject({
  kind: field.oneOf(CHECK_KINDS).describe('What is probed'),
  interval,
  targets,
  ...OWN_FIELDS,
  enabled: z.boolean().default(true).describe('Whether its targets are probed'),
});

/** Checks read at a time. */
const CHECKS_READ = 500;

interface Facts {
  readonly kind: CheckKind;
  readonly intervalMs: number;
  /** `NAME=SPEC`, with credentials. */
  readonly targets: readonly string[];
  readonly options: CheckOptions[CheckKind];
  readonly enabled: boolean;
}

function entryOf({ kind, intervalMs, targets: texts, options, enabled }: Facts): Entry {
  const own = ownFields(kind, options);
  return { kind, interval: formatDuration(intervalMs), targets: texts, ...own, ...disabledOf(enabled) };
}

/** The own fields of the kind that are not the default. */
function ownFields(kind: CheckKind, options: CheckOptions[CheckKind]): Entry {
  const shown = Object.entries(showOptions(kind, options)).filter(([, value]) => value !== null);
  return Object.fromEntries(shown.filter(([name]) => !isDefault(kind, Object.fromEntries(shown), name)));
}

function isDefault(kind: CheckKind, fields: Entry, name: string): boolean {
  try {
    const standard: object = showOptions(kind, readOptions(kind, without(fields, name) as OwnFields));
    return isDeepStrictEqual(Reflect.get(standard, name), fields[name]);
  } catch (error) {
    // It has no default.
    if (error instanceof Failure) return false;
    throw error;
  }
}

async function storedTargets({ db, services }: StoredFrom, check: string): Promise<string[]> {
  const rows = await listProbed(db, check, null);
  const ring = rows.some(({ credentials }) => credentials !== null) ? await services.keyring() : null;
  return rows.map((row) => `${row.name}=${ring === null ? row.spec : openTarget(ring, row)}`);
}

function readTargets(kind: CheckKind, texts: readonly string[]): string[] {
  const reader = new TargetReader(kind);
  return texts.map((text) => {
    const { name, ...spec } = reader.read(text);
    return `${name}=${withCredentials(spec)}`;
  });
}

export const checksSection: ConfigSection = {
  word: 'check',
  isDirect: true,
  schema: () => jsonSchema(entry, 'input'),
  async stored(from) {
    const found = new Map<string, Entry>();
    for (let after = ''; ;) {
      const rows = await listChecks(from.db, CHECKS_READ, after);
      for (const row of rows) {
        const { kind, interval_ms: intervalMs, enabled } = row;
        const facts = { kind, intervalMs, options: fromJson(row.options), enabled: enabled === 1 };
        found.set(row.name, entryOf({ ...facts, targets: await storedTargets(from, row.name) }));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < CHECKS_READ) return found;
      after = last.name;
    }
  },
  async read(map, restore) {
    const { kind, interval: every, targets: texts, enabled, ...own } = readEntry(entry, map, restore);
    const options = readOptions(kind, own);
    return entryOf({ kind, intervalMs: readInterval(every), targets: readTargets(kind, texts), options, enabled });
  },
  add: (name, to) => [['check.add', { name, ...without(to, 'enabled') }], ...switchCalls('check', name, {}, to)],
  change(name, from, to) {
    // The state of a target says nothing of a probe of another kind.
    if (from['kind'] !== to['kind']) return [...this.remove(name), ...this.add(name, to)];
    const isSame = isDeepStrictEqual(without(from, 'enabled'), without(to, 'enabled'));
    const update: Call = ['check.update', { name, ...without(to, 'enabled', 'kind'), defaults: true }];
    return [...(isSame ? [] : [update]), ...switchCalls('check', name, from, to)];
  },
  remove: (name) => [['check.remove', { name }]],
};
