import type { Node } from '../core/json-schema.ts';
import type { ConfigSection, ConfigSections } from '../core/sections/section.ts';

const NAME: Node = {
  type: 'string',
  pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
  description: '1 to 63 of a-z 0-9 . _ - beginning with a letter or digit',
};

/** The JSON Schema of a configuration file, by which editors complete and check it. */
export function configSchema(sections: ConfigSections): Node {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gatehouse configuration',
    type: 'object',
    additionalProperties: false,
    properties: {
      set: { ...NAME, description: 'The file owns what it names; --prune removes what it names no more' },
      ...Object.fromEntries([...sections].map(([name, section]) => [name, { type: 'array', items: named(section) }])),
    },
  };
}

function named(section: ConfigSection): Node {
  const { properties, required, ...entry } = section.schema();
  return {
    ...entry,
    required: ['name', ...(Array.isArray(required) ? (required as string[]) : [])],
    properties: { name: NAME, ...(properties as object) },
  };
}
