/** The next steps on a new installation. */
import type { Installation } from '../command/context.ts';

/** The next commands, with the caller's program name; empty if there are users and apps. */
export async function nextSteps(
  { accounts, clients }: Pick<Installation, 'accounts' | 'clients'>,
  signInMethods: readonly string[],
  programName: string,
): Promise<string> {
  const steps: string[] = [];
  // Users of an identity provider get their account at the first sign-in.
  if (signInMethods.includes('password') && !(await accounts.hasAny()))
    steps.push('user add --email you@example.com --name "Your Name"');
  if (!(await clients.hasAny())) {
    steps.push('client register --name "My App" --redirect-uri http://127.0.0.1:8080/callback');
  }
  if (steps.length === 0) return '';
  return `\nNext, in another terminal:\n${steps.map((step) => `  ${programName} ${step}\n`).join('')}`;
}
