import { raceShapes } from './samples/race';

raceShapes('postgres');
