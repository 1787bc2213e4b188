import fs from 'node:fs';
import { bootId } from '../../../../src/lib/boot-id.ts';
import type { Tree } from '../../../../src/domain/sources/directory.ts';
import {
  openDirectory as realOpen,
  type OpenDirectory,
  openTree as realTree,
} from '../../../../src/runners/checkout/open-tree.ts';
import { OwnFolder } from '../../../../src/runners/run-files/own-folder.ts';
import type { Folder } from '../../../../src/runners/run-files/folder.ts';
import { theWorld, running } from '../../world/current.ts';
import { own } from '../../world/descriptors.ts';
import { stepped } from '../stepped.ts';

export type { OpenDirectory } from '../../../../src/runners/checkout/open-tree.ts';

/** Directories of people, with the same path and the same numbers in each run of a seed. */
export async function openDirectory(path: string): Promise<OpenDirectory> {
  if (running() === null) return realOpen(path);
  const folder = await openNamed(path);
  const identity = { device: '1', inode: path, owner: 1_000, boot: bootId() };
  return { folder, identity, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

export function openTree(tree: Tree): Promise<Folder> {
  return running() === null || tree.named === null ? realTree(tree) : openNamed(tree.path);
}

function openNamed(path: string): Promise<Folder> {
  const { O_DIRECTORY, O_RDONLY } = fs.constants;
  return stepped(() => new OwnFolder(own(fs.openSync(theWorld().pathOf(path), O_DIRECTORY | O_RDONLY))));
}
