import { useState } from 'preact/hooks';
import { Button } from './button.js';
import { showToast } from './toast.js';

/** Copies a text to the clipboard. Pages over plain HTTP from another machine have only the old API. */
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

interface Props {
  readonly text: string;
  /** The name of the text for users: `id 123`, `all ids`. */
  readonly what: string;
  readonly children?: string;
}

export function CopyButton({ text, what, children }: Props) {
  const [isDone, setDone] = useState(false);
  const run = async () => {
    const done = await copy(text);
    showToast(
      done
        ? `Copied ${what}.`
        : `This browser does not allow copying from the page. Select ${what} and copy by hand.`,
    );
    setDone(done);
    if (done) setTimeout(() => setDone(false), 1500);
  };
  const icon = isDone ? 'check' : 'copy';
  const label = `Copy ${what}`;
  return children === undefined ? (
    <Button look="quiet" icon={icon} label={label} onClick={run} />
  ) : (
    <Button icon={icon} label={label} onClick={run}>
      {children}
    </Button>
  );
}
