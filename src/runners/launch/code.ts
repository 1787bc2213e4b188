/**
 * The machine code of a child between its start and the execution of the tool: a loop that carries out a list of system
 * calls and decides nothing. It uses no stack, and reads and writes only the list. It is assembled from code/*.S; a
 * test compares the bytes.
 */
const CODE: Readonly<Record<string, string>> = {
  x64:
    '4889fb488b03488b7b08488b7310488b53184c8b53204c8b43284c8b4b300f054889034885c07f1348f7d84883f83f7710488b4b3848' +
    '0fa3c173064883c340ebc2bf7e000000b8e70000000f05ebf2',
  arm64:
    'f30300aa680240f9608640a9628e41a9649642a9010000d4600200f91f0000f1ec000054e00300cb1ffc00f1c8000054611e40f92124' +
    'c09a6100003673020191f1ffff17c00f80d2c80b80d2010000d4fdffff17',
};

/** The bytes for a processor, named as in `process.arch`; null for an unknown processor. */
export function machineCode(arch: string): Buffer | null {
  const hex = CODE[arch];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}
