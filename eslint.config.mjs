import nextPlugin from '@next/eslint-plugin-next';
import { defineConfig, globalIgnores } from 'eslint/config';
import importX from 'eslint-plugin-import-x';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { houseRules } from './scripts/lint/rules.mjs';

/** Rules that hold for every file, tests and tools included. */
const house = {
  'house/directions': 'error',
  'house/environment': 'error',
  'house/sql-rooms': 'error',
  'house/kebab-case': 'error',
  'house/no-barrel': 'error',
  'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
  'no-console': 'error',
  'no-restricted-syntax': [
    'error',
    { selector: 'TSEnumDeclaration', message: 'use a const array and a union type' },
    { selector: 'TSNonNullExpression', message: 'prove it or handle the absence; no non-null assertion' },
  ],
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'prefer-const': 'error',
  'object-shorthand': 'error',
  'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
  'import-x/no-duplicates': ['error', { 'prefer-inline': true }],
  'import-x/first': 'error',
  'import-x/newline-after-import': 'error',
  'import-x/no-self-import': 'error',
};

export default defineConfig(
  globalIgnores([
    '**/node_modules/**',
    '.next*/**',
    '.outbox-console/**',
    'next-env.d.ts',
    '**/*.gen.ts',
    'playwright-report/**',
    'test-results/**',
    'coverage/**',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Of the type-aware rules, the ones that find lost failures and lost cases; the rest cost more time than they save.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
    },
  },
  {
    files: ['**/*.{ts,tsx,mjs,js}'],
    plugins: { house: houseRules, 'import-x': importX },
    rules: house,
  },
  {
    files: ['app/**/*.{ts,tsx}', 'components/**/*.{ts,tsx}', 'lib/server/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks, '@next/next': nextPlugin },
    rules: {
      ...reactHooks.configs.flat.recommended.rules,
      ...nextPlugin.configs.recommended.rules,
      ...nextPlugin.configs['core-web-vitals'].rules,
      'react-hooks/exhaustive-deps': 'error',
    },
  },
  {
    files: ['app/**/*.{ts,tsx}', 'components/**/*.{ts,tsx}'],
    ignores: ['components/frame/go.tsx'],
    rules: {
      'no-restricted-imports': [
        'error',
        { name: 'next/link', message: 'Link of components/frame/go.tsx stays where the other page cannot be fetched' },
        {
          name: 'next/navigation',
          importNames: ['useRouter'],
          message: 'useGo of components/frame/go.tsx stays where the other page cannot be fetched',
        },
      ],
    },
  },
  {
    // Programs talk to a terminal, the script for hosts to whoever writes one.
    files: ['scripts/**', 'demo/**', 'bench/**', 'e2e/**', 'public/**', '*.config.*'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.{test,spec}.{ts,tsx}', 'e2e/**'],
    rules: { '@typescript-eslint/no-empty-object-type': 'off', 'react-hooks/rules-of-hooks': 'off' },
  },
);
