/** Symbolic links and modes of hostile repositories. */
import { type Hostile, sent, stored } from './corpus.ts';
import type { Entry, Objects } from './objects.ts';

const OUT = /leads out of it/;
const NOWHERE = /leads nowhere in it/;

/** A file `f`, a folder `d` with a file, and links: their names and targets. */
function links(
  name: string,
  expected: Hostile['expected'],
  ...made: readonly (readonly [name: string, target: string | Buffer])[]
): Hostile {
  return sent(name, expected, (objects) => objects.commit(withLinks(objects, made)));
}

function withLinks(objects: Objects, made: readonly (readonly [name: string, target: string | Buffer])[]): string {
  const file = objects.blob();
  const entries = made.map(([name, target]): Entry => ['120000', name, objects.blob(target)]);
  return objects.sortedTree(['100644', 'f', file], ['40000', 'd', objects.tree(['100644', 'f', file])], ...entries);
}

const chain = (count: number): [string, string][] =>
  Array.from({ length: count }, (_, n) => [`l${n + 1}`, n === 0 ? 'f' : `l${n}`]);
const winding = (count: number): [string, string][] =>
  Array.from({ length: count }, (_, n) => [`l${n}`, `${'d/../'.repeat(800)}${n % 39 === 0 ? 'd/f' : `l${n - 1}`}`]);
const PLAIN = ['d', 'd/f', 'f'];

export const LINKS: readonly Hostile[] = [
  links('link: absolute', OUT, ['out', '/etc/passwd']),
  links('link: to the environment of the reader', OUT, ['out', '/proc/self/environ']),
  links('link: upwards', OUT, ['out', '../../../../etc/passwd']),
  links('link: upwards through a folder', OUT, ['out', 'd/../../x']),
  links('link: upwards in two steps', OUT, ['out', 'up/../x'], ['up', 'd/..']),
  links('link: out and back in', OUT, ['out', '../tree/f']),
  links('link: to itself', NOWHERE, ['loop', 'loop']),
  links('link: two in a circle', NOWHERE, ['a', 'b'], ['b', 'a']),
  links('link: to nothing', NOWHERE, ['none', 'nothing']),
  links('link: below a file', NOWHERE, ['below', 'f/x']),
  links('link: 41 in a chain', NOWHERE, ...chain(41)),
  links('link: 40 in a chain', [...PLAIN, ...chain(40).map(([name]) => name)], ...chain(40)),
  links('link: 339 that wind through each other', /take more than 200000 steps/, ...winding(339)),
  links('link: without a target', NOWHERE, ['empty', '']),
  links('link: a target of 5,000 bytes', /"long" of the repository is too long/, ['long', 'd/../'.repeat(1_000)]),
  links('link: a target of 20 MB', /"long" of the repository is too long/, ['long', Buffer.alloc(20_000_000, 'x')]),
  links('link: a target with a NUL', /target that is not text/, ['nul', 'f\0/../../x']),
  links('link: a target that is not UTF-8', /target that is not text/, ['bytes', Buffer.of(0x66, 0xff)]),
  links('link: named .git', /git fetch failed|folder of git/, ['.git', 'd']),
  links('link: named .gitmodules', /git fetch failed/, ['.gitmodules', 'f']),
  links('link: into the folder of git', NOWHERE, ['config', '.git/config']),
  links('link: a state of terraform', [...PLAIN, 'terraform.tfstate'], ['terraform.tfstate', 'f']),
  sent('link: and a folder of the same name', /git fetch failed|twice/, (objects) => {
    const below = objects.tree(['100644', 'passwd', objects.blob('evil\n')]);
    return objects.commit(objects.tree(['120000', 'etc', objects.blob('/etc')], ['40000', 'etc', below]));
  }),
];

/** One entry of this mode. */
function mode(text: string, expected: Hostile['expected']): Hostile {
  return sent(`mode: ${text === '' ? 'none' : text}`, expected, (objects) =>
    objects.commit(objects.tree([text, 'f', objects.blob()])),
  );
}

const NO_MODE = /git fetch failed|neither a file, a folder nor a link|cannot be read/;

export const MODES: readonly Hostile[] = [
  mode('104755', ['f 700']),
  mode('106777', ['f 700']),
  mode('100666', ['f 600']),
  mode('100000', ['f 600']),
  mode('0100644', /git fetch failed|^f$/),
  mode('60000', NO_MODE),
  mode('20000', NO_MODE),
  mode('10000', NO_MODE),
  mode('140000', NO_MODE),
  mode('', NO_MODE),
  mode('x', NO_MODE),
  mode('777777777777', NO_MODE),
  mode('40000', /git fetch failed|lacks the entries/),
  sent('mode: a submodule', [], (objects) => objects.commit(objects.tree(['160000', 'm', 'ab'.repeat(20)]))),
  sent('mode: 20,001 submodules', /more than 20000 files and folders/, (objects) => {
    const names = Array.from({ length: 20_001 }, (_, n): Entry => [
      '160000',
      `m${String(n).padStart(5, '0')}`,
      'ab'.repeat(20),
    ]);
    return objects.commit(objects.tree(...names));
  }),
  stored('mode: a submodule whose update is a command', /git fetch failed/, (folder, objects, { marker }) => {
    const modules = objects.blob(`[submodule "m"]\n\tpath = m\n\turl = x\n\tupdate = !touch ${marker}\n`);
    objects.store(
      folder,
      objects.commit(objects.tree(['100644', '.gitmodules', modules], ['160000', 'm', 'ab'.repeat(20)])),
    );
  }),
];
