/** Folders and names of hostile repositories. */
import { type Hostile, sent } from './corpus.ts';
import type { Entry, Objects } from './objects.ts';

const TOO_MANY = /more than 20000 files and folders/;
const NOT_A_TREE = /git fetch failed|cannot be read/;

function nested(objects: Objects, levels: number, inner: string): string {
  let tree = inner;
  for (let level = 0; level < levels; level += 1) tree = objects.tree(['40000', 'd', tree]);
  return tree;
}

/** Ten times ten times ten: a few hundred bytes for each level. */
function repeating(objects: Objects, levels: number, inner: string): string {
  let tree = inner;
  for (let level = 0; level < levels; level += 1) {
    const object = tree;
    tree = objects.tree(...Array.from({ length: 10 }, (_, n): Entry => ['40000', `d${n}`, object]));
  }
  return tree;
}

export const TREES: readonly Hostile[] = [
  sent('tree: without an entry', [], (objects) => objects.commit(objects.tree())),
  sent('tree: a billion empty folders in ten objects', TOO_MANY, (objects) =>
    objects.commit(repeating(objects, 9, objects.tree())),
  ),
  sent('tree: a billion files in ten objects', TOO_MANY, (objects) =>
    objects.commit(repeating(objects, 9, objects.tree(['100644', 'f', objects.blob()]))),
  ),
  sent('tree: 20,001 files of one content', TOO_MANY, (objects) => {
    const file = objects.blob();
    return objects.commit(
      objects.tree(
        ...Array.from({ length: 20_001 }, (_, n): Entry => ['100644', `f${String(n).padStart(5, '0')}`, file]),
      ),
    );
  }),
  sent('tree: one mebibyte 300 times', /more than 268435456 bytes/, (objects) => {
    const file = objects.blob(Buffer.alloc(1024 * 1024));
    return objects.commit(
      objects.tree(...Array.from({ length: 300 }, (_, n): Entry => ['100644', `f${String(n).padStart(3, '0')}`, file])),
    );
  }),
  sent('tree: 70 folders deep', /folders deeper than 64/, (objects) =>
    objects.commit(nested(objects, 70, objects.tree(['100644', 'f', objects.blob()]))),
  ),
  sent('tree: 10,000 folders deep', /git fetch failed|folders deeper than 64/, (objects) =>
    objects.commit(nested(objects, 10_000, objects.tree(['100644', 'f', objects.blob()]))),
  ),
  sent('tree: entries of 9 MiB', /git fetch failed|more than 8388608 bytes of entries|more than 20000/, (objects) => {
    const file = objects.blob();
    return objects.commit(
      objects.tree(
        ...Array.from({ length: 19_000 }, (_, n): Entry => [
          '100644',
          `${String(n).padStart(5, '0')}${'x'.repeat(480)}`,
          file,
        ]),
      ),
    );
  }),
  sent('tree: an entry twice', /git fetch failed|twice/, (objects) =>
    objects.commit(objects.tree(['100644', 'f', objects.blob('1')], ['100644', 'f', objects.blob('2')])),
  ),
  sent('tree: entries out of order', NOT_A_TREE, (objects) =>
    objects.commit(objects.tree(['100644', 'g', objects.blob()], ['100644', 'f', objects.blob()])),
  ),
  sent('tree: a file and a folder of one name', /git fetch failed|twice/, (objects) => {
    return objects.commit(
      objects.tree(['100644', 'f', objects.blob()], ['40000', 'f', objects.tree(['100644', 'g', objects.blob()])]),
    );
  }),
  sent('tree: cut off in an entry', NOT_A_TREE, (objects) => objects.commit(objects.add('tree', '100644 f\0short'))),
  sent('tree: no tree at all', NOT_A_TREE, (objects) => objects.commit(objects.add('tree', 'x'.repeat(100)))),
  sent('tree: a file that is missing', /git fetch failed/, (objects) =>
    objects.commit(objects.tree(['100644', 'f', 'ab'.repeat(20)])),
  ),
  sent('tree: a folder that is a file', /git fetch failed|lacks/, (objects) =>
    objects.commit(objects.tree(['40000', 'd', objects.blob()])),
  ),
  sent('tree: a file that is a folder', /git fetch failed|lacks/, (objects) =>
    objects.commit(objects.tree(['100644', 'f', objects.tree(['100644', 'g', objects.blob()])])),
  ),
  sent('tree: 21,000 files that no folder lists', TOO_MANY, (objects) => {
    for (let n = 0; n < 21_000; n += 1) objects.blob(`${n}`);
    return objects.commit(objects.tree(['100644', 'f', objects.blob()]));
  }),
  sent('tree: declares lifecycle hooks', ['GateHouse.Hooks.YAML'], (objects) => {
    return objects.commit(
      objects.tree(['100644', 'GateHouse.Hooks.YAML', objects.blob('before_plan: touch /tmp/x\n')]),
    );
  }),
  sent('tree: attributes with filters', ['.gitattributes', 'f'], (objects) => {
    return objects.commit(
      objects.tree(
        ['100644', '.gitattributes', objects.blob('* filter=evil export-ignore ident working-tree-encoding=UTF-16\n')],
        ['100644', 'f', objects.blob('$Id$\n')],
      ),
    );
  }),
  sent('tree: a pointer to a large file, and where to get it', ['.lfsconfig', 'f'], (objects) => {
    const pointer = objects.blob(`version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 1\n`);
    return objects.commit(
      objects.tree(
        ['100644', '.lfsconfig', objects.blob('[lfs]\n\turl = https://169.254.169.254/x\n')],
        ['100644', 'f', pointer],
      ),
    );
  }),
];

const GIT_FOLDER = /git fetch failed|is an alias of the folder .git/;

/** One file of this name; in a folder of it where the name is that of git's folder. */
function named(what: string, name: string | Buffer, expected: Hostile['expected']): Hostile {
  return sent(`name: ${what}`, expected, (objects) => {
    const file = objects.blob('[core]\n\tfsmonitor = x\n');
    return objects.commit(
      expected === GIT_FOLDER
        ? objects.tree(['40000', name, objects.tree(['100644', 'config', file])])
        : objects.tree(['100644', name, file]),
    );
  });
}

const ELSEWHERE = /git fetch failed|leads elsewhere/;
const CONTROL = /git fetch failed|has a control character/;

export const NAMES: readonly Hostile[] = [
  named('empty', '', /git fetch failed|leads elsewhere|cannot be read/),
  named('one dot', '.', ELSEWHERE),
  named('two dots', '..', ELSEWHERE),
  named('with a slash', 'd/f', ELSEWHERE),
  named('absolute', '/etc/passwd', ELSEWHERE),
  named('.git', '.git', GIT_FOLDER),
  named('.GIT', '.GIT', GIT_FOLDER),
  named('git~1', 'git~1', GIT_FOLDER),
  named('.git with a character of no width', '.gi\u200ct', GIT_FOLDER),
  named('.git with a blank', '.git ', GIT_FOLDER),
  named('.git with a stream', '.git::$INDEX_ALLOCATION', GIT_FOLDER),
  named('with a backslash', 'd\\..\\f', /git fetch failed|has a backslash/),
  named('with a line break', 'f\nf', CONTROL),
  named('with a carriage return', 'f\r', CONTROL),
  named('with an escape sequence', 'f\u001b[2J', CONTROL),
  named('with a line separator', 'f\u2028', CONTROL),
  named('not UTF-8', Buffer.of(0x66, 0xff), /git fetch failed|not UTF-8/),
  named('256 bytes', 'x'.repeat(256), /git fetch failed|is too long/),
  named('5,000 bytes', 'x'.repeat(5_000), /git fetch failed|is too long/),
  named('like an option', '--upload-pack=x', ['--upload-pack=x']),
  named('like a command', '$(touch x);`y`', ['$(touch x);`y`']),
  named('that writes from right to left', 'f\u202etf.x', ['f\u202etf.x']),
  sent('name: a path of 4,100 bytes', /is too long/, (objects) => {
    let tree = objects.tree(['100644', 'f', objects.blob()]);
    for (let level = 0; level < 17; level += 1) tree = objects.tree(['40000', 'x'.repeat(250), tree]);
    return objects.commit(tree);
  }),
];
