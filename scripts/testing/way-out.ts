/** What a line of a refusal at start ends with: what to write, name, say, leave out. */
const WAY_OUT =
  /[;:,] (?:or )?(?:write|name|leave|say|put|use|ask|compare|set|have|bring|release|tell|its owner|did you mean)\b|; known: |; ids must differ$|is written as a map|the reader needs GRANT SELECT|\(this server is .*needs/;

/** The lines that say what is wrong, and not what to do about it. */
export const withoutWayOut = (lines: readonly string[]): string[] => lines.filter((line) => !WAY_OUT.test(line));
