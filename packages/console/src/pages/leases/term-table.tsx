import type { TermJson } from '../../api/types.js';
import { digits, utc } from '../../lib/format.js';
import { EmptyState } from '../../ui/feedback.js';
import { Name } from '../../ui/name.js';
import { Panel } from '../../ui/panel.js';
import { TableHead } from '../../ui/table-head.js';

/** The most rows. */
const SHOWN = 50;

/** Who held which node id, from when to when, as the server has seen it. */
export function TermTable({ terms }: { terms: readonly TermJson[] }) {
  return (
    <Panel title="Who held which node id" class="flush">
      {terms.length === 0 ? (
        <EmptyState title="The server has seen no holder yet">
          <p>It looks every ten seconds. A restart forgets, unless the server keeps its history.</p>
        </EmptyState>
      ) : (
        <div class="table-frame">
          <table>
            <TableHead columns={['Node', 'Holder', 'Since, UTC', 'Last seen, UTC', ['Term', 'end']]} />
            <tbody>
              {terms.slice(0, SHOWN).map(({ node, term, label, from, isFromExact, to, isHeld }) => (
                <tr key={`${node} ${term}`}>
                  <th scope="row" data-prefix="Node " class="mono">
                    {node}
                  </th>
                  <td data-label="Holder">{label ? <Name text={label} /> : 'no label'}</td>
                  <td data-label="Since, UTC" class="mono">
                    {isFromExact ? '' : 'before '}
                    {utc(from)}
                  </td>
                  <td data-label="Last seen, UTC" class="mono">
                    {isHeld ? 'held now' : utc(to)}
                  </td>
                  <td data-label="Term" class="end mono">
                    {digits(term)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {terms.length > SHOWN && (
        <p class="muted pad">{digits(terms.length - SHOWN)} earlier ones are not shown.</p>
      )}
    </Panel>
  );
}
