import type { Checks } from './check';
import { INDEX_CHECKS } from './indexes';
import { RIGHT_CHECKS } from './rights';
import { ROW_CHECKS } from './rows';
import { SLOT_CHECKS } from './slots';
import { TABLE_CHECKS } from './tables';
import { VACUUM_CHECKS } from './vacuum';

export const CHECKS: Checks = {
  ...INDEX_CHECKS,
  ...ROW_CHECKS,
  ...TABLE_CHECKS,
  ...RIGHT_CHECKS,
  ...SLOT_CHECKS,
  ...VACUUM_CHECKS,
};
