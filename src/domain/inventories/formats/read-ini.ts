import { InventoryBuilder } from '../builder.ts';
import { iniValue } from './ini-value.ts';
import { type Inventory, INVENTORY_LIMITS, UNGROUPED } from '../inventory.ts';
import { quoted, refusedAt } from '../refused.ts';
import { splitWords } from './words.ts';

const SECTION = /^\[(?<group>[^:\]\s]+)(?::(?<kind>\w+))?\]\s*(?:#.*)?$/;
const CHILD = /^(?<child>[^:\]\s]+)\s*(?:#.*)?$/;
const KINDS = ['hosts', 'children', 'vars'];
const LINE_CHARACTERS_MAX = 65_536;

/** A group that a line names before its own section. */
interface Named {
  readonly line: number;
  readonly by: string;
}

interface Reading {
  readonly builder: InventoryBuilder;
  /** Groups that have a section of hosts or children. */
  readonly declared: Set<string>;
  readonly named: Map<string, Named>;
  readonly edges: { readonly parent: string; readonly child: string; readonly line: number }[];
  group: string;
  kind: string;
}

/** Reads an inventory as Ansible's plugin `ini` does. Throws invalid_argument that names the line. */
export function readIniInventory(text: string): Inventory {
  if (Buffer.byteLength(text) > INVENTORY_LIMITS.fileBytes)
    throw refusedAt(1, `expected at most ${INVENTORY_LIMITS.fileBytes} bytes`);
  const reading: Reading = {
    builder: new InventoryBuilder(),
    declared: new Set(['all', UNGROUPED]),
    named: new Map(),
    edges: [],
    group: UNGROUPED,
    kind: 'hosts',
  };
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = written.trim();
    if (line.length > LINE_CHARACTERS_MAX)
      throw refusedAt(index + 1, `expected at most ${LINE_CHARACTERS_MAX} characters`);
    if (line !== '' && !line.startsWith('#') && !line.startsWith(';')) readLine(reading, line, index + 1);
  }
  for (const [group, { line, by }] of reading.named)
    if (!reading.declared.has(group))
      throw refusedAt(line, `${by} names the group ${quoted(group)}, which has no section`);
  for (const { parent, child, line } of reading.edges) reading.builder.child(parent, child, line);
  return reading.builder.finish();
}

function readLine(reading: Reading, text: string, line: number): void {
  if (text.startsWith('[') && readSection(reading, text, line)) return;
  if (reading.kind === 'hosts') readHosts(reading, text, line);
  else if (reading.kind === 'vars') readVariable(reading, text, line);
  else readChild(reading, text, line);
}

/** False where the line names a host in brackets, as `[2001:db8::1]:22` does. */
function readSection(reading: Reading, text: string, line: number): boolean {
  const section = SECTION.exec(text)?.groups;
  if (section === undefined) {
    if (!text.endsWith(']')) return false;
    throw refusedAt(line, `${quoted(text)} is not a section; expected [GROUP], [GROUP:children] or [GROUP:vars]`);
  }
  const { group = '', kind = 'hosts' } = section;
  if (!KINDS.includes(kind)) throw refusedAt(line, `section ${quoted(text)}: expected one of ${KINDS.join(', ')}`);
  reading.builder.group(group, line);
  if (kind === 'vars') name(reading, group, line, `the section [${group}:vars]`);
  else reading.declared.add(group);
  reading.group = group;
  reading.kind = kind;
  return true;
}

function name({ named }: Reading, group: string, line: number, by: string): void {
  if (!named.has(group)) named.set(group, { line, by });
}

function readHosts({ builder, group }: Reading, text: string, line: number): void {
  const words = splitWords(text);
  if ('fault' in words) throw refusedAt(line, words.fault);
  const [pattern = '', ...variables] = words.words;
  if (pattern.endsWith(':'))
    throw refusedAt(line, 'a name ends with ":" in YAML only; give --format yaml if it is that');
  const hosts = builder.hosts(group, pattern, line);
  for (const each of variables) {
    const at = each.indexOf('=');
    if (at < 0) throw refusedAt(line, `expected NAME=VALUE after the host, found ${quoted(each)}`);
    builder.hostVariable(hosts, each.slice(0, at), iniValue(each.slice(at + 1), line), line);
  }
}

function readVariable({ builder, group }: Reading, text: string, line: number): void {
  const at = text.indexOf('=');
  if (at < 0) throw refusedAt(line, `expected NAME=VALUE, found ${quoted(text)}`);
  builder.groupVariable(group, text.slice(0, at).trim(), iniValue(text.slice(at + 1).trim(), line), line);
}

function readChild(reading: Reading, text: string, line: number): void {
  const child = CHILD.exec(text)?.groups?.['child'];
  if (child === undefined) throw refusedAt(line, `expected the name of a group, found ${quoted(text)}`);
  reading.builder.group(child, line);
  name(reading, child, line, `the section [${reading.group}:children]`);
  reading.edges.push({ parent: reading.group, child, line });
}
