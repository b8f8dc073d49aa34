import { systemClock } from '../../clock.js';
import { show } from '../../options.js';
import type { SequenceRow } from '../../sequence/blocks.js';
import type { CeilingRecords } from '../../sequence/past.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { decodeCeiling, decodeRow, encodeCeiling, encodeDefinition } from '../definition.js';
import { type CheckedTable, conditionally, dated, type Item, type Sdk, scan } from './connection.js';

/** The attributes of a sequence item, besides the table's hash key. */
export const SEQUENCE_ATTRIBUTES = ['sequence', 'definition', 'next', 'change'];

/** Sequence rows in a DynamoDB table: an item for each. `next` is a number, of which DynamoDB keeps 38 digits. */
export function dynamodbRows(items: CheckedTable, past: CeilingRecords): SequenceRows {
  const { table: TableName, hashKey, lineage, request, create } = items;
  const addressOf = (name: string) => ({ TableName, Key: { [hashKey]: { S: `sequence#${name}` } } });
  const lookFor = (name: string) => ({ ...addressOf(name), ConsistentRead: true });

  const isPresent = async (sdk: Sdk, text: string | undefined) =>
    text === undefined || (await lineage.present(sdk)) === text;

  /**
   * Changes `next`, and sets all other fields as in `to`. Does so if the other fields are as in `from` and the condition holds.
   *
   * @returns `next` as it was before; `undefined` if nothing was done
   */
  function change(from: SequenceRow, to: SequenceRow, shift: bigint, expressions: Expressions) {
    const { next, condition, numbers } = expressions;
    const marked = to !== from;
    const command = {
      ...addressOf(from.name),
      UpdateExpression: `SET #next = ${next}${marked ? ', #definition = :to, #change = :own' : ''}`,
      ConditionExpression: `#definition = :from AND ${condition}${marked ? ' AND #change = :seen' : ''}`,
      ExpressionAttributeNames: {
        '#next': 'next',
        '#definition': 'definition',
        ...(marked && { '#change': 'change' }),
      },
      ExpressionAttributeValues: {
        ':from': { S: encodeDefinition(from) },
        ...(marked && {
          ':to': { S: encodeDefinition(to) },
          ':seen': { S: from.mark },
          ':own': { S: to.mark },
        }),
        ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, { N: String(value) }])),
      },
      ReturnValues: 'UPDATED_OLD' as const,
    };
    return request(`changing sequence ${show(from.name)}`, async (sdk, send) => {
      if (!(await isPresent(sdk, from.lineage))) return undefined;
      const before = await conditionally(
        send(new sdk.UpdateItemCommand(command)).then(({ Attributes }) => numberOf(Attributes!)),
        async (repeated) => {
          // A repeated allocation has lost a block. A repeated change recognises its first try by the mark.
          if (!repeated || !marked) return undefined;
          const { Item: found } = await send(new sdk.GetItemCommand(lookFor(from.name)));
          return found !== undefined && markOf(found) === to.mark ? numberOf(found) - shift : undefined;
        },
      );
      // A change of another table does not count.
      return (await isPresent(sdk, from.lineage)) ? before : undefined;
    });
  }

  return {
    async insert(row) {
      const { name, next, generation } = row;
      const command = {
        TableName,
        Item: {
          ...addressOf(name).Key,
          sequence: { S: name },
          definition: { S: encodeDefinition(row) },
          next: { N: String(next) },
          change: { S: row.mark },
        },
        ConditionExpression: 'attribute_not_exists(#key)',
        ExpressionAttributeNames: { '#key': hashKey },
      };
      return create(`defining sequence ${show(name)}`, async (sdk, send) => {
        if (!(await isPresent(sdk, row.lineage))) return false;
        const isInserted = await conditionally(
          send(new sdk.PutItemCommand(command)).then(() => true),
          async (repeated) => {
            if (!repeated) return false;
            const { Item: found } = await send(new sdk.GetItemCommand(lookFor(name)));
            return found !== undefined && decode(found).generation === generation;
          },
        );
        return isInserted && isPresent(sdk, row.lineage);
      });
    },

    async read(name) {
      return request(`reading sequence ${show(name)}`, async (sdk, send) => {
        const { Item: found } = await send(new sdk.GetItemCommand(lookFor(name)));
        return found && { ...decode(found), lineage: await lineage.present(sdk) };
      });
    },

    async list() {
      const filter = {
        TableName,
        FilterExpression: 'attribute_exists(#sequence)',
        ExpressionAttributeNames: { '#sequence': 'sequence' },
      };
      return request('listing sequences', async (sdk, send) => (await scan(sdk, send, filter)).map(decode));
    },

    async swap(expected, next) {
      const before = await change(expected, next, next.next - expected.next, {
        next: ':next',
        condition: '#next = :expected',
        numbers: { ':next': next.next, ':expected': expected.next },
      });
      return before !== undefined;
    },

    async delete({ name, generation }) {
      const command = {
        ...addressOf(name),
        ConditionExpression: 'contains(#definition, :generation)',
        ExpressionAttributeNames: { '#definition': 'definition' },
        ExpressionAttributeValues: { ':generation': { S: `"generation":${generation}}` } },
      };
      return request(`removing sequence ${show(name)}`, async (sdk, send) =>
        conditionally(
          send(new sdk.DeleteItemCommand(command)).then(() => true),
          // The first of two requests may have removed the item.
          (repeated) => repeated,
        ),
      );
    },

    async advance(from, { delta, low, high }, to) {
      if (from.exhausted) return undefined;
      return change(from, to, delta, {
        next: '#next + :delta',
        condition: '#next BETWEEN :low AND :high',
        numbers: { ':delta': delta, ':low': low, ':high': high },
      });
    },

    past,
  };
}

/** The ceilings of sequences: an item for each. Its text is in an attribute that no hash key is named after. */
export function dynamodbPasts(
  { table: TableName, hashKey, lineage, request, create }: CheckedTable,
  isDated: boolean,
  maxJump: number | undefined,
): CeilingRecords {
  const addressOf = (name: string) => ({ TableName, Key: { [hashKey]: { S: `past#${name}` } } });
  const lookFor = (sdk: Sdk, name: string) =>
    new sdk.GetItemCommand({ ...addressOf(name), ConsistentRead: true });
  return {
    hasCeilings: true,
    ...(maxJump !== undefined && { maxJump }),

    read: (name) =>
      request(`reading the past of sequence ${show(name)}`, async (sdk, send) => {
        const question = lookFor(sdk, name);
        const { answer, time } = isDated
          ? await dated(question, (command) => send(command))
          : { answer: await send(question), time: systemClock.now() };
        const past = answer.Item && decodeCeiling(name, textOf(answer.Item));
        return { now: time, lineage: await lineage.present(sdk), past };
      }),

    write: (name, expected, next) =>
      create(`writing the past of sequence ${show(name)}`, async (sdk, send) => {
        if ((await lineage.present(sdk)) !== next.lineage) return false;
        const command = new sdk.PutItemCommand({
          TableName,
          Item: { ...addressOf(name).Key, definition: { S: encodeCeiling(next) } },
          ...(expected === undefined
            ? {
                ConditionExpression: 'attribute_not_exists(#key)',
                ExpressionAttributeNames: { '#key': hashKey },
              }
            : {
                ConditionExpression: '#definition = :expected',
                ExpressionAttributeNames: { '#definition': 'definition' },
                ExpressionAttributeValues: { ':expected': { S: encodeCeiling(expected) } },
              }),
        });
        const isWritten = await conditionally(
          send(command).then(() => true),
          async (repeated) => {
            if (!repeated) return false;
            const { Item: found } = await send(lookFor(sdk, name));
            return found !== undefined && textOf(found) === encodeCeiling(next);
          },
        );
        return isWritten && (await lineage.present(sdk)) === next.lineage;
      }),
  };
}

interface Expressions {
  /** The new value of `next`. */
  readonly next: string;
  readonly condition: string;
  readonly numbers: Readonly<Record<string, bigint>>;
}

const numberOf = ({ next }: Item) => BigInt(next?.N ?? '');

const textOf = ({ definition }: Item) => definition?.S ?? '';

const markOf = ({ change }: Item) => change?.S;

const decode = ({ sequence, definition, next, change }: Item) =>
  decodeRow(sequence?.S ?? '', definition?.S ?? '', next?.N ?? '', change?.S);
