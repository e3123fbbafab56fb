/** One statement of an installation and why it is there. */
export interface InstallStatement {
  why: string;
  sql: string;
  /** Something is better with it, and goes on without: whoever installs may not be allowed to. */
  optional?: true;
  /** Answers a row where it is in place already: running it again would ask for rights that nothing needs. */
  unless?: string;
}
