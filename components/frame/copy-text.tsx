import { Button, CopyButton, type ButtonProps } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';

interface CopyTextProps {
  text: string;
  /** What it copies, on the button. */
  label: string;
  size?: ButtonProps['size'];
  variant?: 'filled' | 'default';
  disabled?: boolean;
}

/** Takes a text along, and says for a moment that it did. */
export function CopyText({ text, label, size = 'compact-xs', variant = 'default', disabled }: CopyTextProps) {
  const words = useTranslations('frame');
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Button
          size={size}
          variant={variant}
          disabled={disabled}
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          onClick={copy}
        >
          {copied ? words('copied') : label}
        </Button>
      )}
    </CopyButton>
  );
}
