import { type ComponentChildren, toChildArray } from 'preact';

/** Numbers with their labels, in equal tiles. */
export function Stats({ children }: { children: ComponentChildren }) {
  const isFourfold = toChildArray(children).length % 3 !== 0;
  return <dl class={`stats${isFourfold ? ' fourfold' : ''}`}>{children}</dl>;
}

interface Props {
  readonly label: string;
  readonly children: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** A number with its label. */
export function Stat({ label, children, note }: Props) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>
        <span class="stat-value">{children}</span>
        {note && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}
