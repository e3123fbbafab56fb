/** The roles of the console and what each may do: the one table that server and screens read. */
export const ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSIONS = [
  /** See outboxes, figures and events, payload masked. */
  'outbox:read',
  /** See masked fields in the clear. */
  'payload:unmask',
  'event:operate',
  'mark:write',
  'doctor:silence',
  /** Prove a mapping, and turn changes of an outbox on and off. */
  'mapping:prove',
  'audit:read',
  /** Approve what somebody else planned. */
  'plan:approve',
  /** Manage accounts, tokens and settings. */
  'account:manage',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const VIEWER: readonly Permission[] = ['outbox:read', 'audit:read'];
const OPERATOR: readonly Permission[] = [...VIEWER, 'payload:unmask', 'event:operate', 'mark:write', 'doctor:silence'];

export const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  viewer: VIEWER,
  operator: OPERATOR,
  approver: [...OPERATOR, 'plan:approve'],
  admin: [...OPERATOR, 'plan:approve', 'mapping:prove', 'account:manage'],
};

export const can = (role: Role, permission: Permission): boolean => ROLE_PERMISSIONS[role].includes(permission);

const READING: readonly Permission[] = ['outbox:read', 'audit:read'];

/** Whether it changes nothing: who may is then known well enough from a few seconds ago. */
export const onlyReads = (permission: Permission): boolean => READING.includes(permission);

export const isRole = (value: unknown): value is Role => (ROLES as readonly unknown[]).includes(value);

/** Somebody, or the command line: whose role is ''. */
export type Who = Pick<Actor, 'id' | 'name'> & { role: string };

/** Who is asking. `id` is stable and scopes idempotency keys; `name` is what the audit shows. */
export interface Actor {
  /** `account:<uuid>` or `token:<uuid>`. */
  id: string;
  /** The account's e-mail, or the token's name. */
  name: string;
  role: Role;
  kind: 'account' | 'token';
}
