import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../api/routes.js';
import { visibleText } from '../lib/visible-text.js';
import { observable } from '../observable.js';
import { hrefOf } from '../router.js';
import { Dialog } from '../ui/dialog.js';
import { useObservable } from '../ui/hooks.js';
import { Icon, type IconName } from '../ui/icon.js';
import styles from './search-dialog.module.css';

/** A place to jump to. */
interface Target {
  readonly icon: IconName;
  readonly text: string;
  readonly kind: string;
  readonly href: string;
}

const PAGES: readonly (readonly [page: IconName, text: string])[] = [
  ['overview', 'Overview'],
  ['inspect', 'Inspect'],
  ['mint', 'Mint'],
  ['sequences', 'Sequences'],
  ['leases', 'Leases'],
  ['ring', 'Ring'],
  ['health', 'Health'],
  ['audit', 'Audit'],
];

/** The most sequences and namespaces that are shown. */
const MOST = 8;

/** The pause in typing after which the server is asked, ms. */
const PAUSE = 150;

const isOpen = observable(false);

export function openSearch(): void {
  isOpen.set(true);
}

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
    return;
  // Another dialog is open, and may hold what somebody has typed.
  if (!isOpen.get() && document.querySelector('dialog[open]') !== null) return;
  event.preventDefault();
  isOpen.set(!isOpen.get());
});

/** Finds pages, sequences, namespaces and pasted ids, by the keyboard alone. */
export function SearchDialog() {
  return useObservable(isOpen) ? <Search /> : null;
}

function Search() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { targets, isSettled } = useTargets(text.trim());
  const list = useId();
  const current = Math.min(chosen, targets.length - 1);
  const close = () => isOpen.set(false);
  const go = (target: Target | undefined) => {
    if (target === undefined) return;
    close();
    location.hash = target.href;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setChosen((current + step + targets.length) % Math.max(1, targets.length));
  };
  return (
    <Dialog title="Search and jump" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          go(targets[current]);
        }}
      >
        {/* A listbox with a text field: the field keeps the focus, and names the chosen option. */}
        <input
          class={styles.input}
          role="combobox"
          aria-label="A page, a sequence, a namespace or an id"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={targets.length === 0 ? undefined : `${list}-${current}`}
          placeholder="A page, a sequence, a namespace or an id"
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
      </form>
      <div id={list} role="listbox" aria-label="Results" class={styles.list}>
        {targets.map((target, i) => (
          // The keyboard is that of the field.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
          <div
            key={`${target.kind} ${target.href}`}
            id={`${list}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === current}
            class={styles.option}
            onClick={() => go(target)}
          >
            <Icon name={target.icon} />
            <span class={styles.text}>{visibleText(target.text)}</span>
            <span class={`muted ${styles.kind}`}>{target.kind}</span>
          </div>
        ))}
      </div>
      {isSettled && targets.length === 0 && (
        <p role="status" class={`muted ${styles.none}`}>
          No page, sequence or namespace has this in its name. A text of four characters or more can be
          inspected as an id.
        </p>
      )}
    </Dialog>
  );
}

/** The places that fit a text, and whether the server has told its own. */
function useTargets(text: string): { targets: Target[]; isSettled: boolean } {
  const [found, setFound] = useState<{ text: string; targets: readonly Target[] }>({ text: '', targets: [] });
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(async () => {
      // A server that does not answer leaves the pages.
      const targets = await askServer(text, control.signal).catch(() => undefined);
      if (targets && !control.signal.aborted) setFound({ text, targets });
    }, PAUSE);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [text]);
  const wanted = text.toLowerCase();
  const pages = PAGES.filter(([, name]) => name.toLowerCase().includes(wanted)).map(
    ([page, name]): Target => ({ icon: page, text: name, kind: 'page', href: hrefOf(page) }),
  );
  const inspect: Target[] = /^\S{4,}$/.test(text)
    ? [{ icon: 'inspect', text, kind: 'inspect this id', href: hrefOf('inspect', text) }]
    : [];
  // Results of an earlier text stay until the new ones are there.
  const others = found.targets.filter(({ text: name }) => name.toLowerCase().includes(wanted));
  return { targets: [...pages, ...others, ...inspect], isSettled: found.text === text };
}

async function askServer(text: string, signal: AbortSignal): Promise<Target[]> {
  const [sequences, namespaces] = await Promise.all([
    api.sequences({ q: text, limit: MOST }, signal).then((page) => page.sequences),
    api.namespaces(signal).catch(() => []),
  ]);
  const wanted = text.toLowerCase();
  const begins = ({ name }: { name: string }) => Number(name.toLowerCase().startsWith(wanted));
  return [
    ...sequences
      .toSorted((a, b) => begins(b) - begins(a))
      .map(
        ({ name }): Target => ({
          icon: 'sequences',
          text: name,
          kind: 'sequence',
          href: hrefOf('sequences', name),
        }),
      ),
    ...namespaces
      .filter(({ namespace }) => namespace.toLowerCase().includes(wanted))
      .slice(0, MOST)
      .map(
        ({ namespace }): Target => ({
          icon: 'leases',
          text: namespace,
          kind: 'namespace',
          href: hrefOf('leases', namespace),
        }),
      ),
  ];
}
