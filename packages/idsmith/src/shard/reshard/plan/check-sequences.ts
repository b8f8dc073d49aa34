import { InvalidOptionError } from '../../../errors.js';
import { askNodes, requireAnswers } from '../../mint/ask-nodes.js';
import { nextGeneration } from '../../mint/next-generation.js';
import type { ReshardContext } from '../context.js';

/**
 * Checks that the old nodes mint for the old map, or for the new one already, and that minting can be handed over.
 *
 * @param acceptOlder addresses of nodes that may have lost their sequences
 * @throws InvalidOptionError naming a node that mints for other nodes, or with another `maxSkew`, or a new node that knows a later
 *   generation of minting than the old nodes
 */
export async function requireOwnMinting(
  { from, to, gone }: ReshardContext,
  acceptOlder: readonly string[],
): Promise<void> {
  const [own, next] = [from.sequences[0]?.nodeSet, to.sequences[0]?.nodeSet];
  const sequences = from.sequences.filter(({ node }) => !gone.has(node.address));
  const answers = requireAnswers(await askNodes(sequences, (sequence) => sequence.readStatus()));
  for (const [{ node }, { whose, fingerprint, nodes }] of answers) {
    if (whose !== 'foreign' || own === undefined || fingerprint === next?.fingerprint) continue;
    throw new InvalidOptionError(
      nodes === own.nodes || nodes === next?.nodes
        ? `node ${node.address} mints keys for the same nodes with another maxSkew or epoch than from (maxSkew ${own.skew}, epoch ` +
            `${own.epoch}): keys could repeat. Use the same maxSkew and epoch as the processes that mint there`
        : `node ${node.address} mints keys for other nodes (${nodes}), not for ${own.nodes}: reshard from those nodes`,
    );
  }
  if (own?.fingerprint !== next?.fingerprint) await nextGeneration(sequences, to.sequences, acceptOlder);
}
