/** The setting of everything that is registered with a secret: who makes the secret. */
import { flag } from './field.ts';
import type { Setting } from './setting.ts';

/** True to make no secret, but a one-time address at which the developer makes it. */
export const HAND_OVER: Setting<boolean> = {
  field: flag,
  initial: false,
  label: 'Hand-over',
  group: '',
  help: 'Make no secret now, but a one-time address for the developer.',
};
