// node scripts/release.mjs 0.3.0: the version of every package, of what they need from each other, and of the first section of CHANGELOG.md.
//   --check 0.3.0   says whether all of them are that version, and exits with 1 if not
//   --notes 0.3.0   prints the section of CHANGELOG.md

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const CHANGELOG = `${root}CHANGELOG.md`;
const UNRELEASED = /^## .*\(unreleased\)$/im;
const SECTIONS = ['dependencies', 'devDependencies', 'peerDependencies'];

const manifests = [
  `${root}package.json`,
  ...readdirSync(`${root}packages`).map((name) => `${root}packages/${name}/package.json`),
].map((file) => ({ file, manifest: JSON.parse(readFileSync(file, 'utf8')) }));
const ours = new Set(manifests.map(({ manifest }) => manifest.name));

const [flag, version = flag] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) {
  fail(`"${version ?? ''}" is not a version; write node scripts/release.mjs 0.3.0`, 2);
}
if (flag === '--check') check();
else if (flag === '--notes') console.log(notes());
else if (flag === version) change();
else fail(`there is no ${flag}; there are --check and --notes`, 2);

/** Every range that names one of our packages, as [manifest, where, name]. */
function* innerRanges({ manifest }) {
  for (const section of SECTIONS) {
    for (const name of Object.keys(manifest[section] ?? {})) if (ours.has(name)) yield [section, name];
  }
}

function check() {
  const wrong = [];
  for (const entry of manifests) {
    const { manifest } = entry;
    if (manifest.version !== version) wrong.push(`${manifest.name} is ${manifest.version}`);
    for (const [section, name] of innerRanges(entry)) {
      const range = manifest[section][name];
      if (range !== expectedRange(range)) wrong.push(`${manifest.name} asks for ${name} ${range}`);
    }
  }
  if (notes() === '') wrong.push('CHANGELOG.md has no section for it, or an empty one');
  else if (/^.*\(unreleased\)/i.test(heading() ?? '')) wrong.push('CHANGELOG.md calls it unreleased');
  if (wrong.length > 0) fail(`not ready to be released as ${version}:\n  ${wrong.join('\n  ')}`, 1);
  console.log(`${manifests.length} manifests and CHANGELOG.md are at ${version}`);
}

function change() {
  const text = readFileSync(CHANGELOG, 'utf8');
  if (!UNRELEASED.test(text))
    fail('CHANGELOG.md has no section that is "(unreleased)": write what has changed, and try again', 1);
  for (const entry of manifests) {
    const { file, manifest } = entry;
    manifest.version = version;
    for (const [section, name] of innerRanges(entry))
      manifest[section][name] = expectedRange(manifest[section][name]);
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, text.replace(UNRELEASED, `## ${version} (${today})`));
  console.log(`${manifests.length} manifests are at ${version}. Next:
  npm install --package-lock-only --ignore-scripts
  npm test && npm run test:full
  git commit -am 'Version ${version}' && git tag v${version} && git push --follow-tags`);
}

/** Packages of one release go together. What uses the public entries alone works with later versions, too, and says so by a `^`. */
function expectedRange(range) {
  return range.startsWith('^') ? `^${version}` : version;
}

function heading() {
  return readFileSync(CHANGELOG, 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`## ${version} `));
}

function notes() {
  const text = readFileSync(CHANGELOG, 'utf8');
  const start = text.indexOf(`\n## ${version} `);
  if (start < 0) return '';
  const body = text.slice(text.indexOf('\n', start + 1));
  return body.split(/\n## /)[0].trim();
}

function fail(message, status) {
  console.error(message);
  process.exit(status);
}
