import { useTranslations } from 'next-intl';

export default function NoCard() {
  return <h1>{useTranslations('errors')('notFound')}</h1>;
}
