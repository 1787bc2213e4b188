import type { Positional, Verb } from '../syntax/tree.ts';

const NAME: Positional = { field: 'name', type: 'string', required: true };

/** The verbs of contexts, for the table of programs. */
export const CONTEXT_VERBS: readonly Verb[] = [
  {
    path: 'context list',
    summary: 'List the contexts',
    examples: ['svc context list'],
    positionals: [],
    flags: [],
    call: { program: 'context-list' },
  },
  {
    path: 'context add',
    summary: 'Name a server and where its token is',
    examples: [
      'svc context add prod --url https://ops.example.com --token-file ~/.config/gatehouse/prod.token',
      'svc context add lab --url http://10.0.0.5:8420 --token-variable LAB_TOKEN',
    ],
    positionals: [NAME],
    flags: [
      { name: 'url', field: 'url', type: 'string', placeholder: 'URL', required: true, help: 'Base URL of the server' },
      {
        name: 'token-variable',
        field: 'token_variable',
        type: 'string',
        placeholder: 'VARIABLE',
        help: 'Environment variable with the token, in place of --token-file',
      },
    ],
    call: { program: 'context-add' },
  },
  {
    path: 'context use',
    summary: 'Choose the server of every verb without --context; local is this machine',
    examples: ['svc context use prod', 'svc context use local'],
    positionals: [NAME],
    flags: [],
    call: { program: 'context-use' },
  },
  {
    path: 'context remove',
    summary: 'Forget a server; its token file is not touched',
    examples: ['svc context remove lab'],
    positionals: [NAME],
    flags: [],
    call: { program: 'context-remove' },
  },
];
