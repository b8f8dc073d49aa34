import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { connection } from '../api/connection.js';
import { useObservable } from './hooks.js';

interface Props {
  readonly title: string;
  readonly lead: string;
  readonly actions?: ComponentChildren;
  /** True while the data of the page is old, because the server does not answer. */
  readonly isStale?: boolean;
  readonly children: ComponentChildren;
}

/** True until a page has been shown. The first page leaves the focus where the browser put it. */
let isFirst = true;

/** The frame of every page. Its heading gets the focus when the user comes from another page. */
export function Page({ title, lead, actions, isStale, children }: Props) {
  const { isUnreachable } = useObservable(connection);
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
      <div class={`page-body${isStale || isUnreachable ? ' stale' : ''}`}>{children}</div>
    </>
  );
}
