/** Names that mark a value as a credential: of labels and annotations, and of parameters of a URL. */

/**
 * Words in the name of a label, an annotation or a parameter that mark a credential, also joined as in `clientSecret`.
 */
const NAME_PART = new RegExp(
  'authorization|token|passw(?:or)?d|passphrase|secret|credential|cookie|bearer|signature|' +
    '(?:api|access|private)[-_. ]?key',
  'i',
);
/** Words that are also a part of harmless words, so they count only alone: `auth` but not `author`. */
const NAME_WORD = /(?:^|[-_. ])(?:auth|pwd)(?:$|[-_. ])|[-_. ]pass$/i;
/** In the query of a URL alone: as a label each is a word like any other. */
const PARAMETER_WORD = /^(?:key|code|otp|pass|sid|sig)$/i;

/** Whether a label, an annotation or a parameter of this name holds a credential. */
export function isCredentialName(name: string): boolean {
  return NAME_PART.test(name) || NAME_WORD.test(name);
}

/** Whether a parameter of a URL, as it is written there, holds a credential. */
export function isCredentialParameter(name: string): boolean {
  const plain = decoded(name);
  return isCredentialName(plain) || PARAMETER_WORD.test(plain);
}

function decoded(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
