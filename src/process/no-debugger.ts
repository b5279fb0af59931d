/**
 * Imported for what it does: with a listener, SIGUSR1 opens no debugger, which would show the keys to whoever reaches its
 * port. `--disable-sigusr1` does so from the first moment on; who starts the npm package cannot give it.
 */
process.on('SIGUSR1', () => {});
