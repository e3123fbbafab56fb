/**
 * Whether a text is printed by a column of this type, `numeric(20,2)` for example: no zeros before it, and as many places as
 * the type has. Without a scale only whole numbers are, since each value has places of its own. False for floats.
 */
export function printsAsDecimal(text: string, type: string): boolean {
  const found = /^(?:numeric|decimal)(?:\((\d+)(?:,(\d+))?\))?(?: unsigned)?(?: zerofill)?$/i.exec(type);
  if (found === null) return false;
  const places = Number(found[2] ?? 0);
  const whole = (found[1] === undefined ? 1_000 : Number(found[1])) - places;
  const [, digits, fraction = ''] = /^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text) ?? [];
  if (digits === undefined || fraction.length !== places || /^-[0.]+$/.test(text)) return false;
  return digits === '0' || digits.length <= whole;
}
