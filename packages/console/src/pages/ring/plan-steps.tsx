import { CopyButton } from '../../ui/copy-button.js';
import { Panel } from '../../ui/panel.js';
import styles from './ring.module.css';

// The commands of a resharding, for the shell of an operator.

/** Text as one word of a shell. */
const word = (text: string) =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The name of the file with the next config, beside the present one: `next.json`. */
const nextFile = (file: string) => `next${/\.\w+$/.exec(file)?.[0] ?? '.json'}`;

/** The commands to count, to move and to give up, and the start of the server afterwards. */
function reshardCommands(file: string) {
  const maps = `--from ${word(file)} --to ${nextFile(file)}`;
  return {
    count: `idsmith reshard ${maps} --dry-run`,
    move: `idsmith reshard ${maps} --rate 5000`,
    abort: `idsmith reshard ${maps} --abort`,
    serve: `idsmith serve --shards ${nextFile(file)}`,
  };
}

interface Props {
  /** The file with the present config. */
  readonly file: string;
  /** What to do in a copy of the file, and with which entry. */
  readonly edit: readonly [action: string, entry: string];
}

/** The steps from the present config to the next one, with the commands to run. */
export function PlanSteps({ file, edit }: Props) {
  const commands = reshardCommands(file);
  return (
    <Panel title="Steps">
      <ol class={styles.steps}>
        <li>
          Copy {file} to {nextFile(file)}, and {edit[0]} <code>{edit[1]}</code> under <code>shards</code>.
        </li>
        <li>
          Count what would move. Nothing is changed. <Command text={commands.count} />
        </li>
        <li>
          In all applications, put <code>new TransitionMap(present, next)</code> in place of the map.
        </li>
        <li>
          Move the keys. The progress is on this page, and the same command goes on after an interruption.
          <Command text={commands.move} />
        </li>
        <li>
          When it has begun, start servers with the next config: others no longer mint keys.
          <Command text={commands.serve} />
        </li>
        <li>
          After the end, put <code>new ShardMap(next)</code> into all applications.
        </li>
      </ol>
      <p>Before the end there is a way back:</p>
      <Command text={commands.abort} />
    </Panel>
  );
}

function Command({ text }: { text: string }) {
  return (
    <div class={styles.command}>
      <pre class="snippet">{text}</pre>
      <CopyButton text={text} what={`the command ${text}`} />
    </div>
  );
}
