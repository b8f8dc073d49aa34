import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called when the user presses the Escape key. */
  readonly onClose: () => void;
}

/** A modal dialog. The browser keeps the focus inside, and returns it when the dialog closes. */
export function Dialog({ title, children, onClose }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect, because a dialog that has left the page cannot return the focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
