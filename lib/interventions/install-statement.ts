/** One statement of an installation and why it is there. */
export interface InstallStatement {
  why: string;
  sql: string;
  /** Something is better with it, and goes on without: whoever installs may not be allowed to. */
  optional?: true;
}
