/** A share from 0 to 1, as a bar. */
export function Meter({ share, label, tone = '' }: { share: number; label: string; tone?: string }) {
  // A small share must still be visible.
  const width = share <= 0 ? 0 : Math.max(share * 100, 1);
  return (
    <svg class={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="meter-track" width="100" height="6" />
      <rect class="meter-fill" width={width} height="6" />
    </svg>
  );
}
