'use client';

import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { type Found, keyProblem } from '@/lib/shared/lists/found';
import type { ActionResult } from '@/lib/shared/problems';
import { useGo } from '../frame/go';
import { Notice } from '../frame/note';
import { TextButton } from '../frame/popovers';
import { findHref } from '../hrefs';
import { FoundKey } from './found-key';
import classes from './find.module.css';

interface FindScreenProps {
  /** As the address has it; null where it has none. */
  asked: string | null;
  /** null where the key cannot be looked for. */
  initial: Found | null;
  load: (input: { key: string }) => Promise<ActionResult<Found>>;
}

/** What became of a business key in all outboxes. The key is in the address. */
export function FindScreen({ asked, initial, load }: FindScreenProps) {
  const t = useTranslations('find');
  return (
    <div className={classes.screen}>
      <h1 className={classes.title}>{t('title')}</h1>
      <KeyForm key={asked} asked={asked} />
      {initial === null ? (
        <div className={classes.frame}>
          <Notice title={t('empty')} text={t('emptyText')} />
        </div>
      ) : (
        <FoundKey initial={initial} load={load} />
      )}
    </div>
  );
}

function KeyForm({ asked }: { asked: string | null }) {
  const t = useTranslations('find');
  const { go } = useGo();
  const [text, setText] = useState(asked ?? '');
  const [wrong, setWrong] = useState(asked === null ? null : keyProblem(asked));
  return (
    <form
      className={classes.form}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const problem = keyProblem(text);
        setWrong(problem);
        if (problem === null) go((router) => router.push(findHref(text)));
      }}
    >
      <TextInput
        id={useId()}
        className={classes.key}
        label={t('key')}
        description={t('keyHint')}
        value={text}
        inputWrapperOrder={['label', 'description', 'error', 'input']}
        error={wrong === null ? undefined : t(`wrong.${wrong}`, { characters: [...text].length })}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <TextButton type="submit" icon={IconSearch} label={t('find')} />
    </form>
  );
}
