import { MantineProvider } from '@mantine/core';
import { format, resolveConfig } from 'prettier';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { theme } from './theme';

/** A sheet that browsers keep, instead of 12 kB in every page: `npx vitest run --project unit components/theme-css.test.tsx -u` writes it. */
it('theme.css holds the variables of the theme', async () => {
  const page = renderToStaticMarkup(<MantineProvider theme={theme} />);
  const css = /<style data-mantine-styles="true"[^>]*>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
  expect(css).toContain('--mantine-color-accent-7');
  const head = '/* Written by theme-css.test.tsx from theme.ts. */\n';
  await expect(await format(head + css, { ...(await resolveConfig('components/theme.css')), parser: 'css' })).toMatchFileSnapshot(
    'theme.css',
  );
});
