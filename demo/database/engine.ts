/** The servers a demo service can have its outbox on. */
import { engineForUrl } from '@/lib/database/engines';
import type { EngineKey } from '@/lib/shared/model';
import { mysqlService } from './mysql';
import { postgresService } from './postgres';
import { type Connection, type ServiceEngine } from './service';

export const SERVICE_ENGINES: Record<EngineKey, ServiceEngine> = { postgres: postgresService, mysql: mysqlService };

/** The engine that speaks to this URL. */
export function serviceEngineFor(url: string): ServiceEngine {
  return SERVICE_ENGINES[engineForUrl(url).key];
}

/** Runs `work` on one connection. */
export async function withConnection<T>(url: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await serviceEngineFor(url).open(url);
  try {
    return await work(connection);
  } finally {
    await connection.end().catch(() => undefined);
  }
}
