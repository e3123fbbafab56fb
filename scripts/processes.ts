/** What else runs on this machine: as /proc tells it, so that a Linux without `ps` will do, else as `ps` does. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Every process with its parent. Throws where neither /proc nor `ps` tells. */
export function processTable(): { pid: number; parent: number }[] {
  if (fs.existsSync('/proc/self/stat')) return fromProc();
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parent] = line.trim().split(/\s+/).map(Number);
      return { pid: pid ?? 0, parent: parent ?? 0 };
    });
}

function fromProc(): { pid: number; parent: number }[] {
  return fs.readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      // The second field is the program's name in parentheses and may hold spaces and parentheses itself.
      return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
}

/** Process ids below `root`, children before grandchildren. */
export function descendantsOf(root: number): number[] {
  const table = processTable();
  const found = [root];
  for (const one of found) for (const { pid, parent } of table) if (parent === one) found.push(pid);
  return found.slice(1);
}
