import { BOTH, type Check } from '../check';

/** A login of the console may do more than watching, or its operations, need: what it may do, a stolen password may do. */
export const roleTooWideCheck: Check = {
  id: 'role_too_wide',
  engines: BOTH,
  examine: ({ facts }) =>
    facts.roles.flatMap(({ key, name, wide }) => {
      if (wide.length === 0) return [];
      const grave = wide.some(({ code }) => ['superuser', 'creates_roles', 'server', 'owner'].includes(code));
      const cure = [...new Set(wide.flatMap(({ revoke }) => revoke?.split('\n') ?? []))].join('\n');
      const values = {
        login: key,
        role: name,
        codes: [...new Set(wide.map(({ code }) => code))].join(' '),
        rights:
          wide
            .map(({ on }) => on)
            .filter((on) => on !== '')
            .join('; ') || null,
      };
      return [{ severity: grave ? ('act' as const) : ('watch' as const), subject: key, values, ...(cure === '' ? {} : { cure }) }];
    }),
};
