import { type Path, formatPath } from '@/lib/shared/lists/document-path';

const REFERENCE = /(\$?)\$\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Replaces `${NAME}` in every string of a parsed document; `$${NAME}` stays as `${NAME}`. Names that are unset are
 * listed in `problems`, never their values.
 */
export function interpolate(value: unknown, lookUp: (name: string) => string | undefined, problems: string[], path: Path = []): unknown {
  if (typeof value === 'string') {
    return value.replace(REFERENCE, (whole, escape: string, name: string) => {
      if (escape === '$') return whole.slice(1);
      if (!NAME.test(name)) {
        problems.push(`${formatPath(path)}: "\${${name}}" is no variable name; write $\${…} for the characters themselves`);
        return '';
      }
      const found = lookUp(name);
      if (found === undefined || found === '') {
        problems.push(`${formatPath(path)}: the environment variable ${name} is not set; set it or write the value here`);
        return whole;
      }
      return found;
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => interpolate(item, lookUp, problems, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, lookUp, problems, [...path, key])]));
  }
  return value;
}
