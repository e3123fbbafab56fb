/** A console's collector in a process of its own, so that it can be killed. Started by `startCollecting`. */
import { openStore } from '@/lib/store/store';
import { collect } from '../product';
import type { CollectingOptions } from './start-collecting';

const { url, storeUrl, shape, table } = JSON.parse(process.argv[2] ?? '{}') as CollectingOptions;
const store = openStore(storeUrl);
const collecting = collect(url, shape, table, store, (error) => process.send?.(String(error)));
// Whoever started it is gone.
process.once('disconnect', () => void collecting.stop().finally(() => process.exit(0)));
