/**
 * Ends the process with one sentence if Node.js is too old: some releases begin to run the sources, and fail later
 * without a message. Imported first, only for this effect.
 */

/** The oldest supported Node.js; package.json says the same. */
export const REQUIRED_NODE = '24.15';

/** Returns the remedy if Node.js is too old, or null. */
export function nodeProblem(version: string): string | null {
  const numbers = (text: string) => text.split('.').map(Number);
  const [[major = 0, minor = 0], [neededMajor = 0, neededMinor = 0]] = [numbers(version), numbers(REQUIRED_NODE)];
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  return `this is Node.js ${version}: install ${REQUIRED_NODE} or later, or run it through npm in a checkout ("npm start", "npm run -s valetkey --"), which gets one for Linux`;
}

const problem = nodeProblem(process.versions.node);
if (problem !== null) {
  process.stderr.write(`valetkey: ${problem}\n`);
  process.exit(1);
}
