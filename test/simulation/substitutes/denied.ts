import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Functions and classes that only compute. */
const PURE = new Set([
  'isIP',
  'isIPv4',
  'isIPv6',
  'BlockList',
  'SocketAddress',
  'validateHeaderName',
  'validateHeaderValue',
]);

/** The source of a module with the exports of this one, whose functions throw when a daemon calls them. */
export function deniedSource(specifier: string, deny: string): string {
  const names = Object.keys(require(specifier) as object).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const named = names.filter((name) => name !== 'default');
  return [
    `import * as real from ${JSON.stringify(specifier)};`,
    `import { denied } from ${JSON.stringify(deny)};`,
    ...named.map((name) =>
      PURE.has(name)
        ? `export const ${name} = real.${name};`
        : `export const ${name} = denied(${JSON.stringify(`${specifier} ${name}`)}, real.${name});`,
    ),
    `export default { ${named.join(', ')} };`,
  ].join('\n');
}
