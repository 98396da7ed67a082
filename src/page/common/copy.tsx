/** A button that copies a text, and says that it has. */
import { useState } from 'preact/hooks';
import { Icon } from './icons.js';

const saidMs = 1_500;

interface CopyProps {
  text: string;
  name: string;
  /** Shows the name beside the icon. */
  isNamed?: boolean;
}

export function Copy({ text, name, isNamed = false }: CopyProps) {
  const [isCopied, tell] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    tell(true);
    setTimeout(() => tell(false), saidMs);
  };
  return (
    <button
      type="button"
      class={`${isNamed ? 'button' : 'icon-button'}${isCopied ? ' is-done' : ''}`}
      aria-label={name}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'tick' : 'copy'} size={14} />
      {isNamed && name}
      <span class="unseen" role="status">
        {isCopied ? 'copied' : ''}
      </span>
    </button>
  );
}
