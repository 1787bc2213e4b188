/** Configuration files, the tests in them, and exports of other programs. */
import assert from 'node:assert/strict';
import { readConfigFile } from '../../../src/domain/configuration/file.ts';
import { IMPORTERS } from '../../../src/faces/cli/configuration/import/importers.ts';
import { SECTION_NAMES } from '../../../src/operations/areas.ts';
import { NAME } from '../../../src/domain/name.ts';
import { readRule } from '../../../src/domain/rules/file.ts';
import { runEmbeddedTests } from '../../../src/domain/rules/embedded-tests.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { jsonTexts, texts } from './texts.ts';

const FILE = [
  'set: ops\n',
  ...SECTION_NAMES.map((section) => `${section}:\n`),
  '  - name: a\n',
  '    when: event.source == "generic"\n',
  '    action: {notify: true}\n',
  '    action: {command: ["df", "${path(event.labels.m)}"], inventory: localhost}\n',
  '    tests:\n',
  '      - {event: {labels: {m: /srv}}, expect: fires}\n',
  '      - {event: {source: x}, expect: error, action: {}}\n',
  '    prefixes: [10.0.0.0/8]\n',
  '[kept]',
  '!!set',
  '&a *a',
];
const GATUS = [
  'endpoints:\n',
  '  - name: x\n',
  '    url: https://example.org/\n',
  '    url: "tcp://192.0.2.1:22"\n',
  '    interval: 1m\n',
  '    conditions: ["[STATUS] == 200", "[BODY] == pat(*x*)"]\n',
  '    dns: {query-name: example.org.}\n',
];
const CRONTAB = [
  '# dow user\n',
  '* ',
  '*/5 ',
  '0 3 * * * ',
  '@daily ',
  'root ',
  '/bin/x\n',
  'A=b\n',
  '\\%',
  '%',
  '\t',
  '@',
];
const KEYS = [
  'monitorList',
  'notificationList',
  'name',
  'type',
  'url',
  'hostname',
  'port',
  'interval',
  'active',
  'keyword',
  'accepted_statuscodes',
  'templates',
  'schedules',
  'repositories',
  'cron_format',
  'template',
  'playbook',
  'repository',
  'inventory',
  'job_templates',
  'project',
  'related',
  'rrule',
  '__proto__',
];
const WORDS = [
  'http',
  'port',
  'ping',
  'https://u:p@h/',
  '192.0.2.1',
  'x.yml',
  'DTSTART:20250101T040000Z RRULE:FREQ=DAILY;INTERVAL=1',
];

function importTarget(from: string, values: ReturnType<typeof texts>): FuzzTarget {
  return fuzzTarget(
    `import-${from}`,
    values,
    (text) =>
      unlessRefused(async () => {
        const { checks, schedules } = (await IMPORTERS[from]?.(text, Date.UTC(2026, 0, 1))) ?? assert.fail();
        for (const name of [...checks.keys(), ...schedules.keys()]) assert.match(name, NAME);
        for (const each of schedules.values()) assert.equal(each['enabled'], false);
      }),
    { baseMs: 500, perCharacterMs: 0.05 },
  );
}

export const CONFIGURATION_TARGETS: readonly FuzzTarget[] = [
  fuzzTarget(
    'configuration-file',
    texts(FILE),
    (text) =>
      unlessRefused(async () => {
        const { entries } = await readConfigFile(text, SECTION_NAMES);
        for (const { name, map } of entries) {
          assert.match(name, NAME);
          await unlessRefused(async () => runEmbeddedTests(await readRule(map), map.fields.get('tests')));
        }
      }),
    { baseMs: 1_000, perCharacterMs: 0.05 },
  ),
  importTarget('gatus', texts(GATUS)),
  importTarget('crontab', texts(CRONTAB)),
  ...['uptime-kuma', 'semaphore', 'awx'].map((from) => importTarget(from, jsonTexts(KEYS, WORDS))),
];
