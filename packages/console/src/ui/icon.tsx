const PATHS = {
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  audit: 'M6 3h9l4 4v14H6zM9 9h7M9 13h7M9 17h4',
  search: 'M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM14.500 14.500 20 20',
  inspect: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.2 16.2 21 21',
  mint: 'M12 5v14M5 12h14',
  sequences: 'M4 18h4v-5h4V9h4V5h4',
  leases: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  ring: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v5M18.9 16l-4.3-2.5M5.1 16l4.3-2.5',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 13l4 4L19 7',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.500 10.500z',
  auto: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  warning: 'M12 4 2.500 20h19zM12 10v5M12 17.500v.5',
  edit: 'M4 20h4L19 9l-4-4L4 16z',
  remove: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  close: 'M6 6l12 12M18 6 6 18',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative picture beside a text. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
