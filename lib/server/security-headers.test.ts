import { describe, expect, it } from 'vitest';
import { contentSecurityPolicy, securityHeaders } from './security-headers';
import { sessionCookieName } from './auth/cookies';

const directives = (policy: string): Map<string, string> =>
  new Map(policy.split('; ').map((directive) => [directive.split(' ')[0] ?? '', directive.split(' ').slice(1).join(' ')]));

describe('the content security policy', () => {
  it('lets scripts run by nonce only in production', () => {
    const policy = directives(contentSecurityPolicy({ nonce: 'abc', https: true, development: false }));
    expect(policy.get('script-src')).toBe(`'nonce-abc' 'strict-dynamic'`);
    expect(policy.get('style-src-elem')).toBe(`'self' 'nonce-abc'`);
    expect(policy.get('style-src-attr')).toBe(`'unsafe-inline'`);
    expect(policy.get('frame-ancestors')).toBe(`'none'`);
    expect(policy.get('base-uri')).toBe(`'none'`);
    expect(policy.get('connect-src')).toBe(`'self'`);
    expect(policy.has('upgrade-insecure-requests')).toBe(true);
  });

  it('never has eval outside development, nor inline scripts anywhere', () => {
    for (const https of [true, false]) {
      expect(contentSecurityPolicy({ nonce: 'abc', https, development: false })).not.toContain('unsafe-eval');
      for (const development of [true, false]) {
        const policy = directives(contentSecurityPolicy({ nonce: 'abc', https, development }));
        expect(policy.get('script-src')).not.toContain('unsafe-inline');
        expect(policy.get('style-src-elem')).not.toContain('unsafe-inline');
      }
    }
  });
});

it('promises https only over https', () => {
  expect(securityHeaders(true)['Strict-Transport-Security']).toMatch(/^max-age=\d{8}/);
  expect(securityHeaders(false)).not.toHaveProperty('Strict-Transport-Security');
});

it('binds the session cookie to its host over https', () => {
  expect(sessionCookieName('https://outbox.example.com')).toMatch(/^__Host-/);
  expect(sessionCookieName('http://localhost:3000')).not.toMatch(/^__/);
});
