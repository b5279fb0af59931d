/** Programs that tests start find their compiled code, as those find it that `npm start` starts. */
import { fileURLToPath } from 'node:url';

/** The variable that halves the start of a program; for the environment of a process. */
export const COMPILED = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
};
