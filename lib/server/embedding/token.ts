/** Tokens of other back ends, each of which opens one card for minutes. */
import { createPublicKey } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import { z } from 'zod';
import type { EmbeddingKey } from '@/lib/config/config';
import { CARD_PARAMETERS, CARD_VIEWS, type CardParameter, type CardView } from '@/lib/shared/embedding/views';
import { WINDOWS, type Window } from '@/lib/shared/figures/windows';
import { Problem } from '@/lib/shared/problems';
import { parseInput } from '../input';
import { findQuery, outboxId } from '../schemas';

export const TOKEN_CHARACTERS_MAX = 4_096;
const LIFETIME_SECONDS_MAX = 300;
/** How far the clock of who signs may be off. */
const SKEW_SECONDS = 15;
const SUB_MAX = 300;

export interface CardParameters extends Partial<Record<CardParameter, string>> {
  window?: Window;
}

/** What a token opens, by which key, and for whom. */
export interface CardGrant {
  key: EmbeddingKey;
  sub: string | null;
  parameters: CardParameters;
}

const PARAMETERS: Record<CardParameter, z.ZodType<string>> = {
  key: findQuery.shape.key,
  outbox: outboxId,
  window: z.enum(WINDOWS, `write one of ${WINDOWS.join(', ')}`),
};

/** The parameters of a view, all it cannot do without and none that it does not know; of a token beside its `sub`. */
export function cardParameters(view: CardView, more: object = {}): z.ZodType<CardParameters & { sub?: string }> {
  const own = Object.entries(CARD_PARAMETERS[view]).map(([name, need]) => {
    const schema = PARAMETERS[name as CardParameter];
    return [name, need === 'required' ? schema : schema.optional()] as const;
  });
  return z.strictObject({ ...Object.fromEntries(own), ...more });
}

const viewClaim = z.object({ view: z.enum(CARD_VIEWS, `write one of ${CARD_VIEWS.join(', ')}`) });
const subClaim = z.string().max(SUB_MAX, `write at most ${SUB_MAX} characters`).optional();
/** Claims of every JWT; what they say is of no use here, or was looked at before. */
const USUAL: readonly string[] = ['aud', 'iat', 'exp', 'iss', 'nbf', 'jti'];

/** The same is said of every token that nobody here signed, whatever is wrong with it. */
const UNSIGNED = 'The token is not signed as one of embedding.keys says: sign a JWT by the key that its kid names';
const refusal = (detail: string): Problem => new Problem('token_invalid', detail);

/** The claims under a good signature: by the key that `kid` names, and by the algorithm of that key, whatever the token says. */
async function signedClaims(token: string, keys: readonly EmbeddingKey[], now: Date): Promise<{ key: EmbeddingKey; claims: JWTPayload }> {
  try {
    const { kid } = token.length > TOKEN_CHARACTERS_MAX ? {} : decodeProtectedHeader(token);
    const key = keys.find(({ id }) => id === kid);
    if (key === undefined) throw refusal(UNSIGNED);
    const options = { algorithms: [key.algorithm], clockTolerance: SKEW_SECONDS, currentDate: now };
    const verifier = key.publicKey === undefined ? Buffer.from(key.secret ?? '') : createPublicKey(key.publicKey);
    return { key, claims: (await jwtVerify(token, verifier, options)).payload };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new Problem('token_expired', 'The token has ended: ask for a new one');
    if (error instanceof errors.JWTClaimValidationFailed)
      throw refusal(`The token's ${error.claim} is not a time that has begun: write seconds since 1970, and set the clock`);
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refusal(UNSIGNED);
    throw error;
  }
}

/** Throws Problem `token_invalid`, `token_expired`, `not_allowed` (for another view), `invalid` naming every claim that is wrong or unknown. */
export async function readCardToken(
  token: string,
  asked: { view: CardView; keys: readonly EmbeddingKey[]; origin: string; now?: Date },
): Promise<CardGrant> {
  const { view, keys, origin, now = new Date() } = asked;
  const { key, claims } = await signedClaims(token, keys, now);
  const { aud, iat = NaN, exp = NaN } = claims;
  if ([aud].flat().join() !== origin) throw refusal(`The token is for somebody else: write ${origin} as its aud`);
  // So written that what is no number is refused.
  if (!(iat <= now.getTime() / 1_000 + SKEW_SECONDS))
    throw refusal('The token was not signed yet: write the time as its iat, in seconds since 1970');
  if (!(exp - iat <= LIFETIME_SECONDS_MAX))
    throw refusal(`The token opens for too long: write an exp at most ${LIFETIME_SECONDS_MAX} seconds after iat`);
  if (parseInput(viewClaim, claims).view !== view) throw new Problem('not_allowed', 'The token opens another card: sign one for this view');
  const own = Object.fromEntries(Object.entries(claims).filter(([name]) => name !== 'view' && !USUAL.includes(name)));
  const { sub = null, ...parameters } = parseInput(cardParameters(view, { sub: subClaim }), own);
  return { key, sub, parameters };
}
