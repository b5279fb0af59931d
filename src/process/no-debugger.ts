/**
 * Imported for its effect: with a listener, SIGUSR1 opens no debugger, which would show the keys to anybody who
 * reaches its port. `--disable-sigusr1` does so from the first moment, but users of the npm package cannot pass it.
 */
process.on('SIGUSR1', () => {});
