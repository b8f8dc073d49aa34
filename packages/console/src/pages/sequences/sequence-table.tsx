import type { SequenceJson } from '../../api/types.js';
import type { UsageSamples } from '../../lib/sequence-rate.js';
import { SequenceRow } from './sequence-row.js';

interface Props {
  readonly sequences: readonly SequenceJson[];
  readonly samples: UsageSamples;
  /** The reason why this user cannot alter or remove sequences. */
  readonly refusal: string | undefined;
  readonly onAlter: (sequence: SequenceJson) => void;
  readonly onRemove: (sequence: SequenceJson) => void;
}

/** The sequences with their usage, rate and forecast. */
export function SequenceTable({ sequences, samples, ...actions }: Props) {
  return (
    <div class="panel flush">
      <div class="table-frame">
        <table class="broad">
          <caption class="visually-hidden">Sequences</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" class="end">
                Next
              </th>
              <th scope="col" class="end">
                Block
              </th>
              <th scope="col" class="end">
                Step
              </th>
              <th scope="col">Used</th>
              <th scope="col" class="end">
                Ids/s
              </th>
              <th scope="col">Runs out</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sequences.map((sequence) => (
              <SequenceRow
                key={sequence.name}
                {...{ sequence, samples: samples.get(sequence.name), ...actions }}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
