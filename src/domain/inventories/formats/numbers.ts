import type { VarNumber } from '../inventory.ts';

/** An integer of any length, from its digits without a sign. */
export function integer(sign: string, digits: string): VarNumber {
  const value = BigInt(digits);
  return { number: String(sign === '-' ? -value : value) };
}

/** The shortest text that is this number again, and that Python and YAML read as a float. Null for no finite one. */
export function float(value: number): VarNumber | null {
  if (!Number.isFinite(value)) return null;
  const text = Object.is(value, -0) ? '-0' : String(value);
  const [mantissa = '', exponent] = text.split('e');
  const whole = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
  return { number: exponent === undefined ? whole : `${whole}e${exponent}` };
}
