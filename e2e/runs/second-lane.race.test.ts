import { checkLane } from './seeds';

checkLane(1);
