import { formatPath } from '@/lib/shared/lists/document-path';
import { shapeProblems } from './check';
import { shapeSchema, type Shape, type ShapeInput } from './shape';

/** Parses a shape once, when its module loads, so that a wrong one fails every test and no request. */
export function defineShape(input: ShapeInput): Shape {
  const shape = shapeSchema.parse(input);
  const problems = shapeProblems(shape).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (problems.length > 0) throw new Error(`shape ${shape.key}: ${problems.join('; ')}`);
  return shape;
}
