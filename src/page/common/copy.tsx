/** A button that copies a text, and says that it has. */
import { useState } from 'preact/hooks';
import { Icon } from './icons.js';

const saidMs = 1_500;

export function Copy({ text, name }: { text: string; name: string }) {
  const [isCopied, tell] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    tell(true);
    setTimeout(() => tell(false), saidMs);
  };
  return (
    <button
      type="button"
      class={`icon-button${isCopied ? ' is-done' : ''}`}
      aria-label={name}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'tick' : 'copy'} size={14} />
      <span class="unseen" role="status">
        {isCopied ? 'copied' : ''}
      </span>
    </button>
  );
}
