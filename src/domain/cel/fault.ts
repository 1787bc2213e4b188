/**
 * The library's message without any value of the input: a name is shown only if the expression itself has it. `offset`
 * is the place of the fault in the expression.
 */
export function faultOf(message: string, text: string, offset = text.length): string {
  const field = /^(?:field not found|no such key): (.*)$/s.exec(message)?.[1];
  if (field !== undefined)
    return field !== '' && text.includes(field) ? `there is no field ${JSON.stringify(field)}` : 'a field is missing';
  const fault = FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'it cannot be evaluated';
  return `${fault === CONVERSION ? conversion(text.slice(offset)) : fault}${typesOf(message)}`;
}

const CONVERSION = 'a value cannot be converted';
/** A conversion of one field or label, such as `int(event.labels.size)`, at the beginning of a text. */
const CONVERTED = /^(\w+)\s*\((?:\s*([A-Za-z_][\w.]*(?:\["[^"]*"\])?)\s*\))?/;
const TARGETS: Readonly<Record<string, string>> = {
  int: 'an integer',
  uint: 'a positive integer',
  double: 'a number',
  bool: 'true or false',
  timestamp: 'a time',
  duration: 'a duration',
};

function conversion(call: string): string {
  const [, name = '', value = 'a value'] = CONVERTED.exec(call) ?? [];
  return Object.hasOwn(TARGETS, name) ? `${value} cannot be converted to ${TARGETS[name]}` : CONVERSION;
}

/** The operand types that an operator or a function does not support, as ` (int, double)`, and nothing else. */
function typesOf(message: string): string {
  const given = /^found no matching overload for '?[@\w!?:<>=+*/%&|[\]-]+'? applied to '([^']*)'$/.exec(message)?.[1];
  const types = given?.replaceAll('google.protobuf.', '').match(/\w+/g) ?? [];
  return types.length > 0 && types.every((type) => TYPES.has(type))
    ? ` (${types.map((type) => type.toLowerCase()).join(', ')})`
    : '';
}

const TYPES = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'Timestamp',
  'Duration',
]);

/** How the messages of the library begin, the more exact first. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^index .* out of bounds/s, 'an index is beyond the end of a list'],
  [/divide by zero|modulus by zero|modulo/, 'a division by zero'],
  [/overflow/, 'a number is too large or too small'],
  [/^(?:duration|timestamp) out of range$/, 'a time or a duration is out of range'],
  [/^found no matching overload|^type mismatch/, 'an operand is of the wrong type'],
  [/^map key conflict/, 'two entries of a map have the same name'],
  [/^unsupported key type/, 'the name of an entry of a map is of the wrong type'],
  [/^Invalid time zone/, 'the time zone is not known'],
  [/^(?:Cannot|Unable|Failed) /, CONVERSION],
  [/call stack/, 'the input is too large for it'],
];
