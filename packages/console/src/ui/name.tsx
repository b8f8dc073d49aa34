import { Fragment } from 'preact';
import { partsOf, visibleText } from '../lib/visible-text.js';

/** A name that fits into every place where it is shown. */
const SHORT = 20;

/**
 * A name or a label that a program chose. The text around it keeps its direction, characters that cannot be seen appear by
 * their numbers, and a long name is cut, with the whole name as its tooltip.
 */
export function Name({ text }: { text: string }) {
  const parts = partsOf(text);
  const isPlain = text.length <= SHORT && parts.every(({ isHidden }) => !isHidden);
  return (
    <bdi class="name" title={isPlain ? undefined : visibleText(text)}>
      {parts.map((part, i) =>
        part.isHidden ? (
          <span key={i} class="code-point">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </bdi>
  );
}

/** A text that may break after each of these characters, where there is no room for it in one line. */
export function Breakable({ text, after }: { text: string; after: string }) {
  return (
    <>
      {text.split(after).map((part, i) => (
        <Fragment key={i}>
          {i > 0 && (
            <>
              {after}
              <wbr />
            </>
          )}
          {part}
        </Fragment>
      ))}
    </>
  );
}
