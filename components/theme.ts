import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The accent colour: a petrol that no state or verdict uses. */
// prettier-ignore
const accent: MantineColorsTuple = [
  '#eef8f9', '#d8eef0', '#aedde1', '#80cad1', '#57b8c1', '#37a0ab', '#1f7f8a', '#146d78', '#0d5c66', '#074a53',
];

/** Greys in which dimmed text (6 on light, 2 on dark) has a contrast of 4.5 on every surface. */
// prettier-ignore
const gray: MantineColorsTuple = [
  '#f6f7f8', '#eff1f3', '#e5e8eb', '#d7dbdf', '#c2c8ce', '#8d959e', '#59616b', '#434a53', '#2c3239', '#16191d',
];
// prettier-ignore
const dark: MantineColorsTuple = [
  '#dfe2e6', '#bec3ca', '#9ea5ae', '#727983', '#3c424a', '#2f343b', '#23272d', '#15181b', '#101214', '#0b0d0e',
];

/** 8-px grid; 13 px data, 14 px text, 20 px figures. Colours of states and verdicts are in `tokens.css`. */
export const theme = createTheme({
  colors: { accent, gray, dark },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  black: '#16191d',
  fontFamily:
    "var(--oc-font), system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans CJK KR', 'Noto Sans KR', Arial, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  spacing: { xs: '4px', sm: '8px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '2px', sm: '4px', md: '6px', lg: '8px', xl: '16px' },
  defaultRadius: 'md',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '16px', lineHeight: '24px' },
      h3: { fontSize: '14px', lineHeight: '20px' },
    },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
});
