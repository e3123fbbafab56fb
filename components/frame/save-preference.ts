const A_YEAR_SECONDS = 31_536_000;

/** Remembers a preference in a cookie, where the server finds it before it renders. */
export function savePreference(cookie: string, value: string): void {
  const secure = window.location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `${cookie}=${encodeURIComponent(value)}; path=/; max-age=${A_YEAR_SECONDS}; samesite=lax${secure}`;
}

export function hasPreference(cookie: string): boolean {
  return document.cookie.split('; ').some((entry) => entry.startsWith(`${cookie}=`));
}
