import type { SequenceJson } from '../../api/types.js';
import { digits, percent } from '../../lib/format.js';
import { type Position, positionOf, usageOf } from '../../lib/sequence-usage.js';
import { hrefOf } from '../../router.js';
import { Panel } from '../../ui/panel.js';

/** Where a number stands in the sequences that have it. */
export function SequenceReadings({ id, sequences }: { id: string; sequences: readonly SequenceJson[] }) {
  return (
    <Panel title="Number of a sequence">
      <div class="table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Sequence</th>
              <th scope="col">Given out</th>
              <th scope="col" class="end">
                Position
              </th>
              <th scope="col" class="end">
                Next block begins at
              </th>
              <th scope="col" class="end">
                Used
              </th>
            </tr>
          </thead>
          <tbody>
            {sequences.map((sequence) => (
              <tr key={sequence.name}>
                <th scope="row" data-label="Sequence">
                  <a href={hrefOf('sequences')}>{sequence.name}</a>
                </th>
                <Cells position={positionOf(sequence, BigInt(id))} />
                <td data-label="Next block begins at" class="end mono">
                  {sequence.next}
                </td>
                <td data-label="Used" class="end mono">
                  {percent(usageOf(sequence).share)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Cells({ position }: { position: Position }) {
  if (position.kind === 'none') return null;
  return (
    <>
      <td data-label="Given out">{position.kind === 'given' ? 'yes, in a block' : 'not yet'}</td>
      <td data-label="Place" class="end mono">
        {digits(position.index + 1n)}
      </td>
    </>
  );
}
