import { checkLane } from './seeds';

checkLane(0);
