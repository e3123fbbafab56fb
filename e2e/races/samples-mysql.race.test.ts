import { raceShapes } from './samples/race';

raceShapes('mysql');
