import { expect, test } from './fixtures';

test('numbers stand in a font of our own, each figure as wide as the next', async ({ signIn }) => {
  const page = await signIn('viewer');
  const fonts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'font') fonts.push(new URL(request.url()).origin);
  });
  await page.goto('/outboxes/escrow');
  await expect(page.locator('main svg text').first()).toBeVisible();
  const origin = new URL(page.url()).origin;
  expect([...new Set(fonts)]).toEqual([origin]);
  // In text, in a table, on a button and on the axis of a chart.
  for (const place of ['h1', 'table', 'main button', 'main svg text']) {
    const widths = await page
      .locator(place)
      .first()
      .evaluate(async (element) => {
        await document.fonts.ready;
        const { fontFamily, fontVariantNumeric } = getComputedStyle(element);
        const widthOf = (text: string, numeric: string) => {
          const held = document.createElement('span');
          Object.assign(held.style, { position: 'absolute', font: `400 16px ${fontFamily}`, fontVariantNumeric: numeric });
          held.textContent = text;
          document.body.append(held);
          const { width } = held.getBoundingClientRect();
          held.remove();
          return width;
        };
        return {
          ones: widthOf('1111', fontVariantNumeric),
          eights: widthOf('8888', fontVariantNumeric),
          narrowOnes: widthOf('1111', 'proportional-nums'),
        };
      });
    expect(widths.ones, place).toBe(widths.eights);
    // Which shows that it is this font: the system's figures are all as wide, or all as narrow.
    expect(widths.narrowOnes, place).toBeLessThan(widths.ones);
  }
});
