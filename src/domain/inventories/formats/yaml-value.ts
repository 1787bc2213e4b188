import type { YamlText } from '../../yaml/file.ts';
import type { VarValue } from '../inventory.ts';
import { float, integer } from './numbers.ts';
import { refusedAt } from '../refused.ts';

/**
 * A text of a YAML file as Ansible's reader takes it, which is of YAML 1.1: there `yes` is true, `0644` is octal and
 * `1:30` is 90. Quoted text is text.
 */
export function scalar(value: YamlText): VarValue {
  const { text, isPlain, line } = value;
  if (!isPlain) return text;
  if (text === '' || text === '~' || /^(?:null|Null|NULL)$/.test(text)) return null;
  if (/^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/.test(text)) return true;
  if (/^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/.test(text)) return false;
  return wholeNumber(text) ?? decimal(text, line) ?? text;
}

function wholeNumber(text: string): VarValue | null {
  const read = /^(?<sign>[-+]?)(?<digits>\d[\d_a-zA-Z]*(?::[0-5]?\d)*)$/.exec(text);
  if (read === null) return null;
  const { sign = '', digits: written = '' } = read.groups ?? {};
  const digits = written.replaceAll('_', '');
  if (/^0b[01_]+$/.test(written)) return integer(sign, digits === '0b' ? '0' : digits);
  if (/^0x[0-9a-fA-F_]+$/.test(written)) return integer(sign, digits === '0x' ? '0' : digits);
  if (/^0[0-7_]*$/.test(written)) return integer(sign, digits === '0' ? '0' : `0o${digits.slice(1)}`);
  if (/^[1-9][0-9_]*$/.test(written)) return integer(sign, digits);
  if (!/^[1-9][0-9_]*(?::[0-5]?\d)+$/.test(written)) return null;
  const seconds = digits.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n);
  return integer(sign, String(seconds));
}

function decimal(text: string, line: number): VarValue | null {
  if (/^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text))
    throw refusedAt(line, `${text} is not accepted as a value; quote it if it is text`);
  const plain = text.replaceAll('_', '');
  if (/^[-+]?(?:\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?)$/.test(text)) return float(Number(plain));
  if (!/^[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*$/.test(text)) return null;
  const size = plain
    .replace(/^[-+]/, '')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0);
  return float(plain.startsWith('-') ? -size : size);
}
