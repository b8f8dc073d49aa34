import { systemClock } from '../../clock.js';
import type { Moment } from '../../lineage/judge.js';
import { Doubts } from '../doubts.js';
import { dated, isRepeated, nameOf, type Sdk, type Send } from './connection.js';

/** The lineage of a table: the id that DynamoDB gives to each table. A table that is made anew or restored has another one. */
export class TableLineage {
  readonly #table: string;
  /** Sends requests without a look at their answers. */
  readonly #send: Send;
  readonly #isDated: boolean;
  /** A table is deleted and made anew in no less, ms. */
  readonly #doubts = new Doubts(500);
  #id: string | undefined;
  /** The reason why the lineage is not told. */
  #silence: string | undefined;

  constructor(table: string, send: Send, isDated: boolean) {
    this.#table = table;
    this.#send = send;
    this.#isDated = isDated;
  }

  get warnings(): readonly string[] {
    return this.#silence === undefined ? [] : [this.#silence];
  }

  /** Sends a request, and notices when the table may have been replaced. */
  send = ((command: never) =>
    this.#doubts.watch(async () => {
      const answer = await this.#send(command);
      if (isRepeated(answer)) this.#doubts.raise();
      return answer;
    }, isAnswer)) as Send;

  /** The lineage at this moment; `undefined` if DynamoDB does not tell. */
  async present(sdk: Sdk): Promise<string | undefined> {
    if (this.#silence === undefined)
      await this.#doubts.settle(async () => {
        await this.#describe(sdk);
      });
    return this.#id;
  }

  /** The lineage and the clock of the service, in one answer; `undefined` if DynamoDB does not tell. */
  async moment(sdk: Sdk): Promise<Moment | undefined> {
    const time = this.#silence === undefined ? await this.#describe(sdk) : undefined;
    return time === undefined || this.#id === undefined ? undefined : { now: time, lineage: this.#id };
  }

  async #describe(sdk: Sdk): Promise<number | undefined> {
    const question = new sdk.DescribeTableCommand({ TableName: this.#table });
    try {
      const { answer, time } = this.#isDated
        ? await dated(question, (command) => this.#send(command))
        : { answer: await this.#send(question), time: systemClock.now() };
      this.#id = answer.Table?.TableId;
      if (this.#id === undefined) this.#beSilent('the description of the table has no TableId');
      return time;
    } catch (error) {
      if (nameOf(error) !== 'AccessDeniedException') throw error;
      this.#beSilent('dynamodb:DescribeTable is not allowed');
      return undefined;
    }
  }

  #beSilent(reason: string): void {
    this.#id = undefined;
    this.#silence =
      `DynamoDB does not tell the lineage of table ${this.#table}, so a table that is restored is noticed only by processes that have ` +
      `seen more: ${reason}. See docs/lineage.md`;
  }
}

/** Tells whether an error is an answer of the table. */
const isAnswer = (error: unknown) =>
  nameOf(error) === 'ConditionalCheckFailedException' && !isRepeated(error);
