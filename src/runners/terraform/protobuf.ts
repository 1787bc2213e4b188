/** The parts of the Protocol Buffers wire format that are needed to walk a message whose schema is partly known. */

/** A varint of 64 bits has at most 10 bytes. */
const VARINT_BYTES_MAX = 10;
const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const DAMAGED = 'a message in it is damaged';

/** One field of a message; the value of a type that is not read is null. */
interface Field {
  readonly number: number;
  /** A number for a varint (rounded from 2^53 on), a view of the bytes for what has a length. */
  readonly value: number | Buffer | null;
}

/** The fields of a message, in their order. Throws an Error that quotes nothing where it is no message. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
      const byte = message[at];
      if (byte === undefined) break;
      at += 1;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw new Error(DAMAGED);
  };
  while (at < message.length) {
    const tag = varint();
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (number === 0 || number >= 2 ** 29) throw new Error(DAMAGED);
    if (type === VARINT) {
      yield { number, value: varint() };
      continue;
    }
    const length = type === LENGTH_DELIMITED ? varint() : FIXED_BYTES[type];
    if (length === undefined || at + length > message.length) throw new Error(DAMAGED);
    yield { number, value: type === LENGTH_DELIMITED ? message.subarray(at, at + length) : null };
    at += length;
  }
}

/**
 * The values of the fields that are asked for, by number. Throws for a field of another type, and for one that comes
 * twice and is not among `repeated`: two readers might not agree on which of them counts.
 */
export function pick(
  message: Buffer,
  wanted: Readonly<Record<number, 'number' | 'bytes'>>,
  repeated: readonly number[] = [],
): Map<number, (number | Buffer)[]> {
  const found = new Map<number, (number | Buffer)[]>();
  for (const { number, value } of fieldsOf(message)) {
    const type = wanted[number];
    if (type === undefined) continue;
    const isRight = type === 'number' ? Number.isSafeInteger(value) : Buffer.isBuffer(value);
    if (value === null || !isRight) throw new Error(DAMAGED);
    const values = found.get(number);
    if (values === undefined) found.set(number, [value]);
    else if (repeated.includes(number)) values.push(value);
    else throw new Error('a field in it comes twice');
  }
  return found;
}
