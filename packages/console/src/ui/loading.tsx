/** Grey lines in place of content that is loading. */
export function Loading({ what, lines = 3 }: { what: string; lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}</span>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="loading-line" />
      ))}
    </div>
  );
}
