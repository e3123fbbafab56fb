import type { Content } from '@/lib/shared/lists/shown';
import type { EventLink, OutboxEvent } from '@/lib/shared/model';
import { parse } from 'lossless-json';
import { rawSteps } from '@/lib/shared/lists/document-path';
import { tried } from '@/lib/shared/tried';
import type { OutboxSettings } from '../outbox';

/** The configured links, `{field}` filled in. Links with a missing field, or that are not http(s), are left out. */
export function linksOf(templates: OutboxSettings['links'], event: OutboxEvent, payload: Content, headers: Content | null): EventLink[] {
  const fields = event as unknown as Record<string, unknown>;
  const valueOf = (name: string): string | null => {
    const steps = rawSteps(name);
    const content = steps[0] === 'payload' ? payload : steps[0] === 'headers' ? headers : null;
    const value = content === null ? fields[name] : pick(content, steps.slice(1));
    return value === null || value === undefined || typeof value === 'object' || value === '' ? null : String(value);
  };
  return templates.flatMap(({ label, url }) => {
    let complete = true;
    const filled = url.replace(/\{([^{}]+)\}/g, (_whole, name: string) => {
      const value = valueOf(name.trim());
      if (value === null) complete = false;
      return encodeURIComponent(value ?? '');
    });
    return complete && isWebAddress(filled) ? [{ label, url: filled }] : [];
  });
}

/** A scalar at a path of the content as this viewer sees it: a masked value never gets into a link. */
function pick({ text, format, masked, cut }: Content, steps: string[]): string | null {
  if (text === null || format !== 'json' || masked || cut) return null;
  const found = steps.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined,
    tried(() => parse(text)),
  );
  return found === null || found === undefined || (typeof found === 'object' && !('isLosslessNumber' in found)) ? null : String(found);
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
