import * as z from 'zod';
import { givenReveal } from '../../domain/actions/reveal.ts';
import type { CommandAction } from '../../domain/commands/action.ts';
import { COMMAND_BYTES_MAX, COMMAND_WORDS_MAX, commandBytes } from '../../domain/commands/command.ts';
import { Failure } from '../../domain/failure.ts';
import type { ActionInput } from '../core/action-input.ts';
import * as field from '../core/fields.ts';
import { type REACH_FIELDS, reachIn } from '../core/reach-input.ts';

const words = z.array(field.argument).max(COMMAND_WORDS_MAX, { error: `expected at most ${COMMAND_WORDS_MAX} words` });

export const COMMAND_FIELDS = {
  command: words.optional().describe('Program to run; put its arguments after --'),
  words: words.optional(),
  inventory: field.name.optional().describe('Inventory to run on; localhost is this machine'),
  reveal: field.on(
    'Whether the approver sees its words: of a command, or the variables of a playbook',
    'Hide from the approver its words: of a command, or the variables of a playbook',
  ),
  limit: z.string().max(1_000).optional().describe('Only these hosts of the inventory'),
};

type Input = z.output<z.ZodObject<typeof COMMAND_FIELDS & typeof REACH_FIELDS>>;

export const commandInput: ActionInput<Input, CommandAction> = {
  hosts: true,
  read(input) {
    const { command: first = [], words: rest = [], inventory, limit = null } = input;
    const command = [...first, ...rest];
    if (command.length === 0) return null;
    return (timeout) => {
      requireCommand(command);
      if (inventory === undefined) throw new Failure('invalid_argument', 'inventory: required with a command.');
      return { command, inventory, limit, timeout, ...givenReveal(input), ...reachIn(input) };
    };
  },
  refusal: ({ inventory }, instead) =>
    inventory === undefined || instead === 'another kind'
      ? null
      : 'command: required with inventory, unless a playbook is given; put it last, after --.',
};

/** Throws invalid_argument. */
function requireCommand(command: readonly string[]): void {
  if (command[0] === '') throw new Failure('invalid_argument', 'command: the first word must name a program.');
  if (command.length > COMMAND_WORDS_MAX || commandBytes(command) > COMMAND_BYTES_MAX) {
    throw new Failure(
      'invalid_argument',
      `command: expected at most ${COMMAND_WORDS_MAX} words and ${COMMAND_BYTES_MAX} bytes in all.`,
    );
  }
}
