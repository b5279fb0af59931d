/**
 * Loaded before the tests of a process. The runner of Node.js follows every promise, to know which test an error is of that
 * nobody catches: up to a third of what the tests of a file cost. Here it follows none, and such an error fails the file, whatever
 * test it is of.
 */
import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
