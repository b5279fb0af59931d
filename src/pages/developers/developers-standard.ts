/** The developers' page on the standard face: for apps that use an OAuth library, and for APIs that check tokens. */
import { html } from '../html/html.ts';
import type { PageContext } from '../layout/layout.ts';
import type { Messages } from '../messages/messages.ts';
import {
  introspectionAnswer,
  introspectionExample,
  programSetUp,
  type StandardAddresses,
  verifierExample,
} from './developers-examples.ts';
import { examplePrograms } from './developers-programs.ts';
import { codeBlock, copyableAddress, ruleList, type Section, termList, termRow } from './developers-section.ts';

/** The addresses, and the reader's client ID; `signsIn` if users may sign in at the app. */
type LibraryData = {
  standard: StandardAddresses;
  openApiUrl: string;
  meUrl: string;
  clientId: string | null;
  signsIn: boolean;
};

/** Returns the section on connecting an app by a library: an example, rules, and all addresses. */
export function librarySection(
  { messages, paths }: PageContext,
  { standard, openApiUrl, meUrl, clientId, signsIn }: LibraryData,
): Section {
  const { library: texts } = messages.developers;
  const { rules, addresses } = texts;
  const list = termList(
    termRow(addresses.issuer, copyableAddress(standard.issuer)),
    termRow(addresses.metadata, copyableAddress(standard.metadataUrl), 'RFC 8414'),
    termRow(addresses.authorization, copyableAddress(standard.authorizationUrl)),
    termRow(addresses.token, copyableAddress(standard.tokenUrl)),
    termRow(addresses.revocation, copyableAddress(standard.revocationUrl), 'RFC 7009'),
    termRow(addresses.pushedAuthorizationRequest, copyableAddress(standard.pushedAuthorizationRequestUrl), 'RFC 9126'),
    termRow(addresses.deviceAuthorization, copyableAddress(standard.deviceAuthorizationUrl), 'RFC 8628'),
    termRow(addresses.openApi, copyableAddress(openApiUrl)),
  );
  const programs = examplePrograms({ ...standard, meUrl }).map(
    ({
      language,
      name,
      install,
      run,
      text,
    }) => html`<details name="language"${language === 'javascript' && html` open`}>
<summary>${name}</summary>
${codeBlock(messages.developers.example(name), text)}
${codeBlock(texts.runLabel(name), `${install}\n${run}`)}
</details>\n`,
  );
  const body = html`<p>${texts.text}</p>
${codeBlock(texts.setUpLabel, programSetUp(clientId))}
<p>${texts.programs}</p>
<div class="programs">${programs}</div>
${signsIn && html`<p>${texts.signIn}</p>\n`}${ruleList(rules.authentication, rules.publicApps, rules.pkce, rules.issuer, rules.resource, rules.device(paths.device), rules.revocation, rules.fastify)}
<h3>${addresses.heading}</h3>\n${list}`;
  return { id: 'library', heading: texts.heading, body };
}

/** Returns the section on checking tokens in an API. */
export function verifySection({ developers: { verify: texts } }: Messages, standard: StandardAddresses): Section {
  const list = termList(
    termRow(texts.introspection, copyableAddress(standard.introspectionUrl), 'RFC 7662'),
    termRow(texts.revocationStream, copyableAddress(standard.revocationStreamUrl)),
  );
  const body = html`<p>${texts.text}</p>
${codeBlock(texts.label, verifierExample(standard.issuer))}
<p>${texts.byHand}</p>
${codeBlock(texts.introspectionLabel, introspectionExample(standard.introspectionUrl))}
${codeBlock(texts.answerLabel, introspectionAnswer(standard.issuer))}
<p>${texts.keep}</p>
${list}`;
  return { id: 'verify', heading: texts.heading, body };
}
