import type { MakerJson } from '../../api/types.js';
import { utc } from '../../lib/format.js';
import { hrefOf } from '../../router.js';
import { Name } from '../../ui/name.js';

/** Who made a flake: the holders of its node id at its time. */
export function Makers({ makers }: { makers: readonly MakerJson[] }) {
  return (
    <>
      {makers.length > 1 && (
        <p class="note">The id tells its node id, not its namespace. One of these may have made it:</p>
      )}
      {makers.map(({ namespace, node, term, label, from, to, isHeld, isCertain }) => (
        <p key={namespace} class="note">
          {isCertain ? 'Made by ' : 'Perhaps made by '}
          <strong>{label ? <Name text={label} /> : `a holder without a label (term ${term})`}</strong>, which{' '}
          {isHeld
            ? `holds node ${node} (first seen ${utc(from)})`
            : `held node ${node} (seen from ${utc(from)} to ${utc(to)})`}
          , in the namespace{' '}
          <a href={hrefOf('leases', namespace)}>
            <Name text={namespace} />
          </a>
          .{isCertain ? '' : ' The server may have missed the true holder.'}
        </p>
      ))}
    </>
  );
}
