import { describe, expect, test } from 'vitest';
import { decodeContent } from './content';

const TEXT = '{"name":"김민지","amount":"1"}';
const UTF8 = Buffer.from(TEXT);
const stored = (head: string | null, binary = false, bytes = binary ? (head ?? '').length / 2 : Buffer.byteLength(head ?? '')) => ({
  head,
  bytes,
  binary,
});

describe('content as its writer meant it', () => {
  test('text in a column of bytes', () => {
    const bytes = stored(UTF8.toString('hex'), true);
    expect(decodeContent(bytes, 'json')).toEqual({ head: TEXT, bytes: UTF8.length, binary: false });
    expect(decodeContent(bytes, 'bytes')).toEqual(bytes);
    expect(decodeContent(bytes, undefined)).toEqual(bytes);
  });

  test('text in a column of bytes that was cut in the middle of a character', () => {
    const cut = stored(UTF8.subarray(0, 10).toString('hex'), true, UTF8.length);
    expect(decodeContent(cut, 'text')).toEqual({ head: '{"name":"', bytes: UTF8.length, binary: false });
  });

  test('base64 in text and in bytes, with line ends', () => {
    const written = UTF8.toString('base64');
    const lines = `${written.slice(0, 20)}\r\n${written.slice(20)}`;
    const meant = { head: TEXT, bytes: UTF8.length, binary: false };
    expect(decodeContent(stored(written), 'base64')).toEqual(meant);
    expect(decodeContent(stored(lines), 'base64')).toEqual(meant);
    expect(decodeContent(stored(Buffer.from(written).toString('hex'), true), 'base64')).toEqual(meant);
  });

  test('base64 that was cut', () => {
    const written = UTF8.toString('base64');
    const { head, bytes } = decodeContent(stored(written.slice(0, 15), false, written.length), 'base64');
    expect(head).toBe('{"name":"');
    expect(bytes).toBe(Math.floor((written.length * 3) / 4));
  });

  test.each<[string, ReturnType<typeof stored>, Parameters<typeof decodeContent>[1]]>([
    ['bytes that are no text', stored('ff00fe', true), 'text'],
    ['text with a NUL in it', stored('410042', true), 'json'],
    ['text that is no base64', stored('{"plain":true}'), 'base64'],
    ['nothing', stored(null), 'base64'],
  ])('%s stay as they are stored', (_, content, encoding) => {
    expect(decodeContent(content, encoding)).toEqual(content);
  });

  test('base64 of bytes that are no text are shown as bytes', () => {
    expect(decodeContent(stored('/wD+'), 'base64')).toEqual({ head: 'ff00fe', bytes: 3, binary: true });
  });
});
