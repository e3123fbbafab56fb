import type { DemoOutbox } from '../outboxes/outbox';
import type { Random } from '../random';
import { record } from '../schema/table';
import type { Story } from '../story/story';
import { patientClient } from '../world/patient-client';

export interface TrafficOptions {
  outbox: DemoOutbox;
  connectionString: string;
  random: Random;
  story: Story;
  /** Answers false when it is time to end. */
  pause(ms: number): Promise<boolean>;
}

/** The service behind one outbox: writes its own table and its events until told to end. */
export async function runTraffic({ outbox, connectionString, random, story, pause }: TrafficOptions): Promise<void> {
  const client = patientClient(connectionString, pause);
  while (await pause(random.wait(outbox.liveRate) * 1_000)) await record(client, outbox.business, outbox.table, story.next());
  await client.end();
}
