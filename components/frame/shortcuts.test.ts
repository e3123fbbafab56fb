import { describe, expect, it } from 'vitest';
import { keyCaps, matchesShortcut, type KeyPress } from './shortcuts';

const press = (key: string, code: string, modifiers: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...modifiers,
});

describe('matchesShortcut', () => {
  it('tells a letter from the same letter with a modifier', () => {
    expect(matchesShortcut(press('x', 'KeyX'), 'x')).toBe(true);
    expect(matchesShortcut(press('X', 'KeyX', { shiftKey: true }), 'x')).toBe(false);
    expect(matchesShortcut(press('X', 'KeyX', { shiftKey: true }), 'shift+x')).toBe(true);
    expect(matchesShortcut(press('r', 'KeyR', { ctrlKey: true }), 'r')).toBe(false);
  });

  it('takes the place of a key when the layout has letters of its own', () => {
    expect(matchesShortcut(press('ㅓ', 'KeyJ'), 'j')).toBe(true);
    expect(matchesShortcut(press('ㅏ', 'KeyK', { metaKey: true }), 'mod+k')).toBe(true);
    expect(matchesShortcut(press('q', 'KeyA'), 'a')).toBe(false);
  });

  it('does not ask how a sign was typed', () => {
    expect(matchesShortcut(press('?', 'Slash', { shiftKey: true }), '?')).toBe(true);
    expect(matchesShortcut(press('?', 'Minus', { shiftKey: true }), '?')).toBe(true);
    expect(matchesShortcut(press('/', 'Digit7', { shiftKey: true }), '/')).toBe(true);
  });
});

it('names the key caps of the machine', () => {
  expect(keyCaps('mod+k', true)).toEqual(['⌘', 'K']);
  expect(keyCaps('mod+k', false)).toEqual(['Ctrl', 'K']);
  expect(keyCaps('j', false)).toEqual(['j']);
  expect(keyCaps('Enter', false)).toEqual(['↵']);
});
