const ADDRESS = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/**
 * An e-mail address as it is kept: small letters, no look-alikes. Null when it is none, or when Unicode normalisation
 * would turn it into another one (`＠` into `@`): two spellings must never meet one account.
 */
export function normaliseEmail(input: string): string | null {
  if (input.length > 254) return null;
  const email = input.trim().toLowerCase();
  return email.normalize('NFKC') === email && ADDRESS.test(email) ? email : null;
}
