export {
  type PublicContent,
  type PublicId,
  type PublicIdOptions,
  type PublicIds,
  publicIds,
} from './public-ids.js';
