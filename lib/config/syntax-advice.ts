/** What an error of YAML means and what to do about it, in words for whoever wrote the file. */
import { parseDocument, type ErrorCode, type YAMLError } from 'yaml';

const ADVICE: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab at the beginning; indent with spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a second ": " where a value stands; put the value in quotes, or indent this line and the next alike',
  MULTILINE_IMPLICIT_KEY: 'a key that goes over lines; end it with a colon on its own line',
  BAD_INDENT: 'a bracket that is not closed; close it, and indent what is inside it',
  BAD_DQ_ESCAPE: 'a backslash that means nothing here; write it twice, or take single quotes',
  BAD_SCALAR_START: 'a character that no plain value begins with; put the value in quotes',
  MULTIPLE_DOCS: 'a second document begins; write one, and leave out the line ---',
  UNEXPECTED_TOKEN: 'more than one value; put the value in quotes where it holds quotes, brackets or colons',
};

/** One sentence on an error and the line it is in; without an error, on a line that is neither key nor item. `key` is one that is there twice. */
export function adviceOn(error: YAMLError | undefined, line: string, key = 'a key'): string {
  if (/^ *\t/.test(line)) return ADVICE.TAB_AS_INDENT ?? '';
  if (error === undefined)
    return 'neither "key: value" nor "- item" of what is beside it; write the colon, and indent it as its neighbours';
  if (/[{[].*\$\{/.test(line)) return 'braces inside braces; put "${…}" in quotes';
  if (error.message.startsWith('Missing closing')) return 'a quote that is not closed; close it';
  if (error.code === 'DUPLICATE_KEY') return `${key} is there already; write it once`;
  if (error.code === 'MISSING_CHAR') return 'no colon, or no dash, where one belongs; write it, and indent the line as its neighbours';
  return ADVICE[error.code] ?? `${error.message}; mend it`;
}

/** A key as it is written (quotes and all), read. */
export function spelling(key: string): string {
  return String(parseDocument(key).toJS());
}
