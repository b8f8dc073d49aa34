import { StoreError } from '../../../errors.js';
import { PROBE_COMMANDS } from '../../../redis/scripts.js';
import type { ReshardContext } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import { STATE_KEY } from '../reserved-keys.js';

const TRYING = 'trying the commands that resharding needs';

/** A key that nobody writes, in the slot of the state if the node is a Redis Cluster. */
const ABSENT_KEY = `{${STATE_KEY}}:probe`;

/**
 * Checks that the user may run every command that resharding needs, before anything is changed.
 *
 * @throws StoreError naming the node and the commands
 */
export async function requirePermissions({ nodes }: ReshardContext): Promise<void> {
  await Promise.all(nodes.map(checkNode));
}

async function checkNode(node: NodeConnection): Promise<void> {
  // The next step finds out whether a node that does not answer is needed.
  const inScripts = await node.run(TRYING, PROBE_COMMANDS, [STATE_KEY, ABSENT_KEY]).catch(() => undefined);
  if (inScripts === undefined) return;
  const refused = [...new Set(inScripts.map(String))];
  for (const command of [
    ['SCAN', '0', 'COUNT', 1],
    ['DBSIZE'],
    ['EXISTS', ABSENT_KEY],
    ['HKEYS', ABSENT_KEY],
    ['HEXISTS', ABSENT_KEY, ''],
    ['HMGET', ABSENT_KEY, ''],
    ['HDEL', ABSENT_KEY, ''],
    ['CLIENT', 'ID'],
  ] as const)
    await node.command(TRYING, ...command).catch((error) => {
      const isRefused = String((error as Error).message).includes('NOPERM');
      const name = command[0] === 'CLIENT' ? command.join('|') : command[0];
      if (isRefused && !refused.includes(name)) refused.push(name);
    });
  if (refused.length > 0)
    throw new StoreError(
      `node ${node.address}: the user must not run ${refused.join(', ')}, which resharding needs. Nothing was changed. Give the user ` +
        `these commands (ACL SETUSER), and try again`,
    );
}
