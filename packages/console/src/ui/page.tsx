import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly lead: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Whether a page has been shown: the first one must not take the focus from where the browser has it. */
let isFirst = true;

/** What every page has: a heading, which gets the focus when one comes from another page. */
export function Page({ title, lead, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · idsmith`;
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          <p class="lead">{lead}</p>
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}
