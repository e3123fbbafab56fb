const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds of `30s`, `5m`, `2h`, `1d`, `90` or `1h 30m`; null when it is none of these or not above zero. */
export function parseDurationSeconds(text: string | number): number | null {
  if (typeof text === 'number') return Number.isFinite(text) && text > 0 ? text : null;
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) > 0 ? Number(trimmed) : null;
  if (!/^(\d+\s*[smhd]\s*)+$/.test(trimmed)) return null;
  let seconds = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+)\s*([smhd])/g)) {
    seconds += Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  }
  return seconds > 0 ? seconds : null;
}
