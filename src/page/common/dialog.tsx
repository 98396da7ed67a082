/** A dialog over the page: keeps the focus within, gives it back, and closes with Escape or a click beside it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  name: string;
  class?: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ name, onClose, children, ...more }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key can come: it belongs to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={element}
      class={`dialog ${more.class ?? ''}`}
      aria-label={name}
      onClose={onClose}
      onClick={({ target }) => {
        if (target === element.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
