/** A time as Unix milliseconds, as readable text and in ISO 8601. */
export function timeFields(timestamp: number): { timestamp: number; utc: string; iso: string } {
  const iso = new Date(timestamp).toISOString();
  return { timestamp, utc: `${iso.slice(0, -1).replace('T', ' ')} UTC`, iso };
}
