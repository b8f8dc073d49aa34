import { useState } from 'preact/hooks';
import type { SequenceJson } from '../../api/types.js';
import { digits, percent } from '../../lib/format.js';
import { type Position, positionOf, usageOf } from '../../lib/sequence-usage.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Name } from '../../ui/name.js';
import { TableHead } from '../../ui/table-head.js';

interface Props {
  readonly id: string;
  readonly sequences: readonly SequenceJson[];
  /** The number of sequences that were not looked at. */
  readonly unread: number;
}

/** The position of a number in each sequence that contains it. */
export function SequenceReadings({ id, sequences, unread }: Props) {
  return (
    <>
      {sequences.length > 0 && <SequenceTable id={id} sequences={sequences} />}
      {unread > 0 && (
        <p class="note">
          Only the sequences that this server hands out most ids of were looked at, and {digits(unread)}{' '}
          others were not.
        </p>
      )}
    </>
  );
}

/** The rows at first. Sequences that have allocated the number come first. */
const SHOWN = 8;

function SequenceTable({ id, sequences }: Omit<Props, 'unread'>) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? sequences : sequences.slice(0, SHOWN);
  return (
    <>
      <Rows id={id} sequences={shown} />
      {shown.length < sequences.length && (
        <p>
          <Button onClick={() => setWhole(true)}>Show all {digits(sequences.length)} sequences</Button>
        </p>
      )}
    </>
  );
}

function Rows({ id, sequences }: Omit<Props, 'unread'>) {
  return (
    <div class="table-frame">
      <table>
        <TableHead
          columns={['Sequence', 'Allocated', ['Position', 'end'], ['Next block', 'end'], ['Used', 'end']]}
        />
        <tbody>
          {sequences.map((sequence) => (
            <tr key={sequence.name}>
              <th scope="row" data-label="Sequence">
                <a href={hrefOf('sequences', sequence.name)}>
                  <Name text={sequence.name} />
                </a>
              </th>
              <Cells position={positionOf(sequence, BigInt(id))} />
              <td data-label="Next block" class="end mono">
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
  );
}

function Cells({ position }: { position: Position }) {
  if (position.kind === 'none') return null;
  return (
    <>
      <td data-label="Allocated">{position.kind === 'allocated' ? 'yes, in a block' : 'not yet'}</td>
      <td data-label="Position" class="end mono">
        {digits(position.index + 1n)}
      </td>
    </>
  );
}
