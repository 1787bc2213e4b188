import { isIP } from 'node:net';
import type { Check } from './field.ts';

/** The field `limit` of actions that work on hosts. */

const LIMIT_CHARACTERS_MAX = 1_000;
const HOST_CHARACTERS_MAX = 253;
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const HOST_AND_PORT = /^(?<host>[^:[\]]+|\[[^[\]]+\]):\d{1,5}$/;
/** Groups that every inventory has: as a limit they are no host. */
const EVERY_HOST = new Set(['all', 'ungrouped']);

/** One host, and nothing that a tool reads as more: no pattern, list, group of all, file or option. */
export const host: Check = (text) => {
  // Monitors mostly name an instance as host:port. Other colons separate the hosts of a list.
  const bare = (HOST_AND_PORT.exec(text)?.groups?.['host'] ?? text).replace(/^\[(.*)\]$/, '$1');
  const isHost =
    bare.length <= HOST_CHARACTERS_MAX && !EVERY_HOST.has(bare.toLowerCase()) && (HOST.test(bare) || isIP(bare) !== 0);
  return isHost && !bare.includes('%') ? { text: bare } : { fault: 'expected the name or the address of one host' };
};

/** The author of an action may name several hosts, but neither an option nor a file of hosts. */
export const limit: Check = (text) =>
  text !== '' && text.length <= LIMIT_CHARACTERS_MAX && !/^[-@]|\p{Cc}/u.test(text)
    ? { text }
    : { fault: 'expected hosts of the inventory' };
