/** Rules of this house that no plugin has. The tables behind them are in layers.mjs. */
import fs from 'node:fs';
import path from 'node:path';
import { importProblem, mayHoldSql, mayReadEnvironment, packageProblem, SQL_BUILDERS, SQL_TEXT } from './layers.mjs';

/** @param {import('eslint').Rule.RuleContext} context */
function fileOf(context) {
  return path.relative(context.cwd, context.filename).split(path.sep).join('/');
}

/**
 * Our file behind a specifier, from the root; null for a package.
 * @param {string} from
 * @param {string} specifier
 */
export function resolveOurs(from, specifier) {
  if (specifier.startsWith('@/')) return specifier.slice(2);
  if (specifier.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier));
  return null;
}

/** Every way to import: static, re-export, dynamic with a literal. */
function onImports(visit) {
  return {
    ImportDeclaration: (node) => visit(node, node.source.value),
    ExportNamedDeclaration: (node) => node.source && visit(node, node.source.value),
    ExportAllDeclaration: (node) => visit(node, node.source.value),
    ImportExpression: (node) => typeof node.source.value === 'string' && visit(node, node.source.value),
  };
}

const directions = {
  meta: { type: 'problem', fixable: 'code', docs: { description: 'imports go down the picture in docs/ARCHITECTURE.md' }, schema: [] },
  create(context) {
    const file = fileOf(context);
    return onImports((node, specifier) => {
      const ours = resolveOurs(file, specifier);
      const message = ours === null ? packageProblem(file, specifier) : importProblem(file, ours);
      if (message) context.report({ node, message });
      const wanted = ours === null ? specifier : spelling(file, ours);
      if (specifier !== wanted) {
        const fix = (fixer) => fixer.replaceText(node.source, `'${wanted}'`);
        context.report({ node, message: `write '${wanted}': @/ between rooms, a relative path inside one`, fix });
      }
    });
  },
};

/** How a file of ours is to be written in an import. Rooms here are top folders, and the folders below lib. */
function spelling(from, to) {
  const roomFolder = (file) => (file.startsWith('lib/') ? file.split('/').slice(0, 2).join('/') : (file.split('/')[0] ?? ''));
  if (!from.includes('/') || roomFolder(from) !== roomFolder(to)) return from.includes('/') ? `@/${to}` : `./${to}`;
  const relative = path.posix.relative(path.posix.dirname(from), to);
  return relative.startsWith('.') ? relative : `./${relative}`;
}

const environment = {
  meta: { type: 'problem', docs: { description: 'process.env is read in lib/env.ts only' }, schema: [] },
  create(context) {
    const file = fileOf(context);
    if (mayReadEnvironment(file)) return {};
    return {
      "MemberExpression[object.name='process'][property.name='env']"(node) {
        // Next replaces this one at build time and cuts the branch that does not run on the edge.
        const name = node.parent.type === 'MemberExpression' ? node.parent.property.name : '';
        if (file === 'instrumentation.ts' && name === 'NEXT_RUNTIME') return;
        context.report({ node, message: 'read the environment in lib/env.ts (demo: demo/env.ts) and pass values on' });
      },
    };
  },
};

const sqlRooms = {
  meta: { type: 'problem', docs: { description: 'SQL lives in the rooms that docs/ARCHITECTURE.md lists' }, schema: [] },
  create(context) {
    if (mayHoldSql(fileOf(context))) return {};
    const message = 'SQL lives in the rooms that docs/ARCHITECTURE.md marks; call a function there';
    return {
      Literal(node) {
        if (typeof node.value === 'string' && SQL_TEXT.test(node.value)) context.report({ node, message });
      },
      TemplateLiteral(node) {
        if (SQL_TEXT.test(node.quasis.map((quasi) => quasi.value.cooked).join(' x '))) context.report({ node, message });
      },
      TaggedTemplateExpression(node) {
        if (node.tag.name === 'sql') context.report({ node, message });
      },
      CallExpression(node) {
        const name = node.callee.type === 'MemberExpression' ? node.callee.property.name : undefined;
        if (SQL_BUILDERS.includes(name)) context.report({ node, message });
      },
    };
  },
};

const KEBAB = /^(\[{0,2}(\.\.\.)?[a-z0-9]+(-[a-z0-9]+)*\]{0,2}|_[a-z0-9-]+)(\.[a-z0-9-]+)*$/;

const kebabCase = {
  meta: { type: 'suggestion', docs: { description: 'kebab-case file names' }, schema: [] },
  create(context) {
    const base = path.posix.basename(fileOf(context));
    if (KEBAB.test(base)) return {};
    return { Program: (node) => context.report({ node, message: `rename ${base}: file names are kebab-case` }) };
  },
};

const noBarrel = {
  meta: { type: 'suggestion', docs: { description: 'no barrel files' }, schema: [] },
  create(context) {
    return {
      Program(node) {
        const statements = node.body;
        const isReExport = (statement) =>
          statement.type === 'ExportAllDeclaration' || (statement.type === 'ExportNamedDeclaration' && statement.source !== null);
        if (statements.length > 1 && statements.every(isReExport)) {
          context.report({ node, message: 'no barrel files: import from where a thing is defined' });
        }
      },
    };
  },
};

const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

export const houseRules = {
  meta: { name: 'house', version },
  rules: { directions, environment, 'sql-rooms': sqlRooms, 'kebab-case': kebabCase, 'no-barrel': noBarrel },
};
