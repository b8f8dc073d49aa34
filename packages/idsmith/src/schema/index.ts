export type { StandardSchema } from '../support/standard-schema.js';
export {
  flakeSchema,
  keySchema,
  localitySchema,
  sequenceSchema,
  typeIdSchema,
  uuid7Schema,
} from './schemas.js';
