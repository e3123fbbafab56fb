/** One statement of an installation and why it is there. */
export interface InstallStatement {
  why: string;
  sql: string;
}
