import { Fragment } from 'preact';

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
