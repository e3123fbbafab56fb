/** Runs under the peer's own Node, from the folder it is installed in: `tables.mjs create|supervise <url>`. */
import { PgBoss } from 'pg-boss';

const QUEUES = ['order', 'payment', 'shipment', 'email', 'invoice'];

const [verb, connectionString] = process.argv.slice(2);
const boss = new PgBoss({ connectionString, supervise: false, schedule: false, monitorIntervalSeconds: 1 });
boss.on('error', (error) => console.error(error));
await boss.start();
if (verb === 'create') for (const name of QUEUES) await boss.createQueue(name);
if (verb === 'supervise') await boss.supervise();
await boss.stop({ graceful: false });
