/** Rules of the command line and events for them. */
import assert from 'node:assert/strict';
import type { NormalEvent } from '../../src/domain/event.ts';
import type { Projected } from '../../src/operations/views.ts';
import { receive } from '../../src/reaction/receive.ts';
import type { Program } from './program.ts';
import { alert, WEBHOOK } from './reaction-maker.ts';
import { callLocally } from './workspace-maker.ts';

export type Rule = Projected<'rule.get'>;
type Tested = Projected<'rule.test'>;
export type Silence = Projected<'silence.get'>;

export const WHEN = 'when: event.source == "generic" && event.labels.instance == "db1"\n';
export const COMMAND = 'action:\n  command: ["true", "${event.labels.instance}"]\n  inventory: localhost\n';
export const FILE = `name: disk\n${WHEN}cooldown: 10m\n${COMMAND}`;

export const rule = (action: string): string => `name: x\n${WHEN}action: {${action}}\n`;
export const call = <T = Rule>(program: Program, operation: string, raw: object): Promise<T> =>
  callLocally<T>(program, operation, raw);
export const add = (program: Program, text: string, some: object = {}): Promise<Rule> =>
  call(program, 'rule.add', { text, ...some });

/** An event in the ledger; answers its id. */
export async function heard(program: Program, some: Partial<NormalEvent> = {}): Promise<string> {
  const [outcome] = await receive(program.services.reaction, [alert(some)], WEBHOOK);
  return outcome?.event.id ?? assert.fail();
}

export const tried = (program: Program, event: string, name = 'disk'): Promise<Tested> =>
  call<Tested>(program, 'rule.test', { name, event });
