/**
 * Ends the process with one sentence where Node.js is too old: some of its releases run the sources, and fail later, in
 * silence or by halves. Imported first, for that alone.
 */
import manifest from '../../package.json' with { type: 'json' };

/** What a person does whose Node.js is too old; null where it is new enough. `required` is as in package.json: `>=24.15`. */
export function nodeProblem(version: string, required: string): string | null {
  const numbers = (text: string) =>
    text
      .replace(/^[^0-9]+/, '')
      .split('.')
      .map(Number);
  const [[major = 0, minor = 0], [neededMajor = 0, neededMinor = 0]] = [numbers(version), numbers(required)];
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  const needed = `${neededMajor}.${neededMinor}`;
  return `this is Node.js ${version}: install ${needed} or later, or run it through npm in a checkout ("npm start", "npm run -s valetkey --"), which gets one for Linux`;
}

const problem = nodeProblem(process.versions.node, manifest.engines.node);
if (problem !== null) {
  process.stderr.write(`valetkey: ${problem}\n`);
  process.exit(1);
}
