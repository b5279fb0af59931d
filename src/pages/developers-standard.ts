/** The developers' page on the standard face: for apps that use an OAuth library, and for APIs that check tokens. */
import {
  introspectionAnswer,
  introspectionExample,
  programSetUp,
  type StandardAddresses,
  verifierExample,
} from './developers-examples.ts';
import { examplePrograms } from './developers-programs.ts';
import { code, points, row, rows, type Section, url } from './developers-section.ts';
import { html } from './html.ts';
import type { PageContext } from './layout.ts';
import type { Messages } from './messages/messages.ts';

/** The addresses, and the reader's client ID. */
type LibraryData = { standard: StandardAddresses; openApiUrl: string; meUrl: string; clientId: string | null };

/** Returns the section on connecting an app by a library: an example, rules, and all addresses. */
export function librarySection(
  { messages, paths }: PageContext,
  { standard, openApiUrl, meUrl, clientId }: LibraryData,
): Section {
  const { library: texts } = messages.developers;
  const { rules, addresses } = texts;
  const list = rows(
    row(addresses.issuer, url(standard.issuer)),
    row(addresses.metadata, url(standard.metadataUrl), 'RFC 8414'),
    row(addresses.authorization, url(standard.authorizationUrl)),
    row(addresses.token, url(standard.tokenUrl)),
    row(addresses.revocation, url(standard.revocationUrl), 'RFC 7009'),
    row(addresses.pushedAuthorizationRequest, url(standard.pushedAuthorizationRequestUrl), 'RFC 9126'),
    row(addresses.deviceAuthorization, url(standard.deviceAuthorizationUrl), 'RFC 8628'),
    row(addresses.openApi, url(openApiUrl)),
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
${code(messages.developers.example(name), text)}
${code(texts.runLabel(name), `${install}\n${run}`)}
</details>\n`,
  );
  const body = html`<p>${texts.text}</p>
${code(texts.setUpLabel, programSetUp(clientId))}
<p>${texts.programs}</p>
<div class="programs">${programs}</div>
${points(rules.authentication, rules.publicApps, rules.pkce, rules.issuer, rules.resource, rules.device(paths.device), rules.revocation, rules.fastify)}
<h3>${addresses.heading}</h3>\n${list}`;
  return { id: 'library', heading: texts.heading, body };
}

/** Returns the section on checking tokens in an API. */
export function verifySection({ developers: { verify: texts } }: Messages, standard: StandardAddresses): Section {
  const list = rows(
    row(texts.introspection, url(standard.introspectionUrl), 'RFC 7662'),
    row(texts.revocationStream, url(standard.revocationStreamUrl)),
  );
  const body = html`<p>${texts.text}</p>
${code(texts.label, verifierExample(standard.issuer))}
<p>${texts.byHand}</p>
${code(texts.introspectionLabel, introspectionExample(standard.introspectionUrl))}
${code(texts.answerLabel, introspectionAnswer(standard.issuer))}
<p>${texts.keep}</p>
${list}`;
  return { id: 'verify', heading: texts.heading, body };
}
