export const ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSIONS = [
  /** See outboxes, figures and events, payload masked. */
  'outbox:read',
  /** See masked fields in the clear. */
  'payload:unmask',
  'event:operate',
  /** Say yes or no to a plan that somebody else made. */
  'plan:approve',
  'mark:write',
  'doctor:silence',
  /** Prove a mapping, and turn changes to an outbox on and off. */
  'mapping:prove',
  'audit:read',
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

/** Whether it only reads: then a role cached for a few seconds is good enough. */
export const onlyReads = (permission: Permission): boolean => READING.includes(permission);

export const isRole = (value: unknown): value is Role => (ROLES as readonly unknown[]).includes(value);

/** An actor, or the command line with the role ''. */
export type Who = Pick<Actor, 'id' | 'name'> & { role: string };

/** Who sends the request. `id` is stable and scopes idempotency keys; `name` is what the audit shows. */
export interface Actor {
  /** `account:<uuid>`, `token:<uuid>` or `embedding:<id of its key>`. */
  id: string;
  /** The account's e-mail, the token's name, or whom another back end shows a card. */
  name: string;
  role: Role;
  kind: 'account' | 'token' | 'embedding';
}
