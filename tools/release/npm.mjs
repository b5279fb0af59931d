// npm as a person runs it.

/** Returns the environment without what an `npm run` around it set. @returns {NodeJS.ProcessEnv} */
export function npmEnvironment() {
  const entries = Object.entries(process.env).filter(([name]) => !/^(npm_|VALETKEY_)/i.test(name));
  return Object.fromEntries(entries);
}
