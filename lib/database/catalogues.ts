import type { EngineKey } from '@/lib/shared/model';
import type { CatalogueReader } from './catalogue';
import type { Engine } from './engine';
import { mysqlCatalogue } from './mysql/catalogue';
import { postgresCatalogue } from './postgres/catalogue';

const BY_ENGINE: Record<EngineKey, CatalogueReader> = { postgres: postgresCatalogue, mysql: mysqlCatalogue };

/** The reader of an engine's catalogue. */
export function catalogueOf(engine: Engine): CatalogueReader {
  return BY_ENGINE[engine.key];
}
