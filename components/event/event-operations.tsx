'use client';

import { Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { EventDetail, OutboxInfo } from '@/lib/shared/model';
import { useMay } from '../frame/console';
import { inOrder, useBecauseText, useObstacleText, useOperationName } from '../interventions/operations';
import classes from './event-screen.module.css';

interface EventOperationsProps {
  detail: EventDetail;
  outbox: OutboxInfo;
  onOperate: (operation: string) => void;
}

/** What can be done to this event now, and for the rest why not. On a phone it keeps to the lower edge. */
export function EventOperations({ detail, outbox, onOperate }: EventOperationsProps) {
  const t = useTranslations('event.operations');
  const mayOperate = useMay('event:operate');
  const name = useOperationName();
  const because = useBecauseText();
  const obstacle = useObstacleText();
  const why = (operation: string): string => {
    const code = detail.operations[operation]?.because ?? 'not_supported';
    const capability = outbox.capabilities.operations[operation];
    return code === 'wrong_state' && capability?.offered === true ? obstacle({ kind: 'states', from: capability.from }) : because(code);
  };
  const archived = detail.event.state === 'archived';
  const keys = inOrder(Object.keys(detail.operations).filter((key) => (key === 'restore') === archived));
  const possible = mayOperate ? keys.filter((key) => detail.operations[key]?.allowed === true) : [];
  // Why nobody may change it stands above.
  if (!outbox.writable) return null;
  return (
    <section className={classes.operations} aria-label={t('title')} data-empty={possible.length === 0 || undefined}>
      {possible.length > 0 && (
        <div className={classes.operationButtons}>
          {possible.map((operation) => (
            <Button key={operation} size="sm" variant={operation === 'archive' ? 'default' : 'filled'} onClick={() => onOperate(operation)}>
              {name(operation)}
            </Button>
          ))}
        </div>
      )}
      {!mayOperate ? (
        <p className={classes.whyNot}>{because('forbidden')}</p>
      ) : (
        <ul className={classes.whyNot}>
          {keys
            .filter((key) => !possible.includes(key))
            .map((key) => (
              <li key={key}>{t('not', { operation: name(key), why: why(key) })}</li>
            ))}
        </ul>
      )}
    </section>
  );
}
