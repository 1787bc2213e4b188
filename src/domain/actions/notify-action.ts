import type { RuleActionRow } from './action-row.ts';
import { type Check, optional } from './field.ts';
import { refused } from '../yaml/fields.ts';
import type { YamlValue } from '../yaml/file.ts';

/** What an action that only notifies people says beside its kind. */
export interface NotifyAction {
  readonly message: string | null;
}

/** Whether an action only notifies people: it makes no job. */
export function isNotify<A extends { readonly kind: string }>(
  action: A,
): action is Extract<A, { readonly kind: 'notify' }> {
  return action.kind === 'notify';
}

export const notifyRuleAction: RuleActionRow<NotifyAction> = {
  others: [],
  isStep: false,
  read: (_map, value, prefix) => ({ message: messageOf(value, prefix) }),
  write: ({ message: text }) => ({ notify: text ?? true }),
  subjects: () => [],
  async compile(action) {
    const text = await optional('notify', action.message, message, fixedMessage);
    return (fill) => ({ message: text && fill(text) });
  },
};

const MESSAGE_CHARACTERS_MAX = 1_000;

const message: Check = (text) => ({ text: text.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed() });
const fixedMessage: Check = (text) =>
  text !== '' && text.length <= MESSAGE_CHARACTERS_MAX
    ? { text }
    : { fault: `expected true or a text of 1 to ${MESSAGE_CHARACTERS_MAX} characters` };

function messageOf(value: YamlValue, prefix: string): string | null {
  if (value.kind === 'text' && value.type === 'boolean' && value.text.toLowerCase() === 'true') return null;
  if (value.kind === 'text' && value.type === 'string') return value.text;
  throw refused(`${prefix}notify`, value, 'expected true or the text of the message');
}
