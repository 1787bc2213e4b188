/** How a state names a provider, as `provider[\"registry.terraform.io/hashicorp/aws\"]` in JSON. */
const BEGIN = Buffer.from('provider[\\"');
const END = Buffer.from('\\"');
/** Part of the tool itself, such as that of terraform_data. */
const BUILT_IN = 'terraform.io/builtin/';
/** Of an address; what is longer is a text of a resource. */
const ADDRESS_BYTES_MAX = 512;

/**
 * The addresses of the providers that a state needs and that `init` has to fetch, sorted. The bytes are searched and
 * not parsed, because a state may have 100 MB; a text of a resource that looks alike adds a name, which costs an init.
 */
export function providersIn(state: Uint8Array): string[] {
  const bytes = Buffer.from(state.buffer, state.byteOffset, state.byteLength);
  const found = new Set<string>();
  for (let at = bytes.indexOf(BEGIN); at !== -1; at = bytes.indexOf(BEGIN, at)) {
    at += BEGIN.length;
    const length = bytes.subarray(at, at + ADDRESS_BYTES_MAX).indexOf(END);
    if (length !== -1) found.add(bytes.toString('latin1', at, at + length));
  }
  return [...found].filter((address) => !address.startsWith(BUILT_IN)).toSorted();
}
