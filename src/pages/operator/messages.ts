/** The words of the console. */
import { type Messages, messagesFor } from '../messages/messages.ts';

const english = messagesFor('en');

/** English, in which each time of day says that it is UTC: operators compare times with those of other systems. */
export const consoleMessages: Messages = {
  ...english,
  minute: (time) => `${english.minute(time)} UTC`,
  second: (time) => `${english.second(time)} UTC`,
};
