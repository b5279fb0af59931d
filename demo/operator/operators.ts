/** The made-up operators and their acts' origins. */
import type { Actor } from '../../src/oauth/trail/audit.ts';
import type { Operator } from '../../src/operator/access/operator.ts';
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import { OPERATORS } from './cast.ts';
import { requestFrom } from './people.ts';

/** An operator with the address of their browser. */
export type ActingOperator = { readonly operator: Operator; readonly source: string };

/** Adds the operators. */
export async function addOperators({ operatorRegistry, operator }: WiredInstallation): Promise<ActingOperator[]> {
  const added: ActingOperator[] = [];
  for (const { name, role, source } of OPERATORS)
    added.push({ operator: (await operatorRegistry.add(name, role, operator)).operator, source });
  return added;
}

/** An operator signs in at a one-time address. */
export async function signInOperator(
  { operatorRegistry, operators, operator: command }: WiredInstallation,
  { operator, source }: ActingOperator,
  browser: string,
): Promise<void> {
  const { url } = await operatorRegistry.signInAddress(operator.id, command);
  const token = new URL(url).searchParams.get('token') ?? '';
  await operators.signIn.useAddress(token, { ...requestFrom(source), secret: '', browser, earlier: null });
}

/** The operator as the actor of one request. */
export function actorOf({ operator: { id, epoch }, source }: ActingOperator): Actor {
  return { kind: 'operator', id, ...requestFrom(source), standing: { operatorId: id, epoch } };
}
