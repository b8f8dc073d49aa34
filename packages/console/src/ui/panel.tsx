import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  readonly title: string;
  /** Stands beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A part of a page, with a heading. */
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

/** A number that matters, and what it is. */
export function Stat({
  label,
  children,
  note,
}: {
  label: string;
  children: ComponentChildren;
  note?: string;
}) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>
        <span class="stat-value">{children}</span>
        {note && <span class="stat-note">{note}</span>}
      </dd>
    </div>
  );
}

/** How much of something, as a bar. */
export function Meter({ share, label, tone = '' }: { share: number; label: string; tone?: string }) {
  // A little of something must not look like nothing.
  const width = share <= 0 ? 0 : Math.max(share * 100, 1);
  return (
    <svg class={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="meter-track" width="100" height="6" />
      <rect class="meter-fill" width={width} height="6" />
    </svg>
  );
}
