// Mints with the default identity of this process.
import { LocalityGenerator } from 'idsmith';

const generator = new LocalityGenerator();
const count = Number(process.argv[2]);
const lines = [];
for (let i = 0; i < count; i++) lines.push(generator.next());
process.stdout.write(lines.join('\n'));
