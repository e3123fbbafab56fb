import localFont from 'next/font/local';

const font = localFont({
  src: '../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  weight: '100 900',
  variable: '--oc-font',
  // Without the hyphen, which among figures of one width is as wide as a figure: ids and names would fall apart.
  declarations: [{ prop: 'unicode-range', value: 'U+0000-002C, U+002E-FFFF' }],
});

export default font;
