import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  readonly title: string;
  /** Buttons and badges beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
}

/** A section of a page, with a heading. */
export function Panel({ title, actions, children, class: name = '' }: Props) {
  const id = useId();
  return (
    <section class={`panel ${name}`} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
