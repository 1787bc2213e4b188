import { Failure } from '../failure.ts';
import { type Inventory } from './inventory.ts';
import { readIniInventory } from './formats/read-ini.ts';
import { readYamlInventory } from './formats/read-yaml.ts';
import { refusedAt } from './refused.ts';

export const INVENTORY_FORMATS = ['yaml', 'ini'] as const;
export type InventoryFormat = (typeof INVENTORY_FORMATS)[number];

/** Control characters but tabs and line ends, and what Python takes as a line end too. */
const NO_TEXT = /[^\P{C}\t\r\n\p{Cf}]|[\u{2028}\u{2029}]/u;

/**
 * Reads the text of an inventory file; without a format, the first line decides it. Nothing of it is run. Throws
 * invalid_argument that names the line.
 */
export async function readInventory(text: string, format?: InventoryFormat): Promise<Inventory> {
  // A mark of the byte order is no part of the first name.
  const bare = text.replace(/^\u{FEFF}/u, '');
  if (bare.trim() === '') throw new Failure('invalid_argument', 'file: it is empty.');
  if (bare.startsWith('#!')) throw refusedAt(1, 'this is a script; an inventory is data and is not run');
  const odd = NO_TEXT.exec(bare);
  if (odd !== null) throw refusedAt(lineAt(bare, odd.index), 'a control character is not accepted');
  return (format ?? formatOf(bare)) === 'yaml' ? readYamlInventory(bare) : readIniInventory(bare);
}

/** A first line such as `all:`, `---` or `{` is of YAML. */
function formatOf(text: string): InventoryFormat {
  const first = text.split('\n').find((line) => line.trim() !== '' && !/^\s*[#;]/.test(line)) ?? '';
  return /^(?:---|%YAML|\{|(?:"[^"]*"|'[^']*'|[^\s[#="']+)\s*:(?:\s|$))/.test(first) ? 'yaml' : 'ini';
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
