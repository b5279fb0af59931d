/** The developers' page for programs: its sections as Markdown, and the list of such documents. */
import { html } from '../html/html.ts';
import { markdownOf } from '../html/markdown.ts';
import type { PageContext } from '../layout/layout.ts';
import { type DevelopersData, developersSections } from './developers-page.ts';

/** Returns the developers' page as Markdown. */
export function developersMarkdown(context: PageContext, data: DevelopersData): string {
  const { heading, lead } = context.messages.developers;
  const sections = developersSections(context, data).map(
    ({ heading, body, isStep }) => `${isStep ? '###' : '##'} ${heading}\n\n${markdownOf(body)}`,
  );
  return `${[`# ${heading}`, markdownOf(lead(context.brand.productName)), ...sections].join('\n\n')}\n`;
}

/** Addresses for `llmsText`, as absolute URLs. */
export type ProgramDocuments = {
  markdownUrl: string;
  metadataUrl: string;
  resourceMetadataUrl: string;
  openApiUrl: string;
};

/** Returns `llms.txt` (llmstxt.org): what this service is, and where its documents for programs are. */
export function llmsText({ messages, brand }: PageContext, urls: ProgramDocuments): string {
  const { heading, lead, programs, library } = messages.developers;
  return `# ${markdownOf(html`${brand.productName}`)}

> ${markdownOf(programs.service(brand.productName))} ${markdownOf(lead(brand.productName))}

## ${programs.documents}

- [${heading}](${urls.markdownUrl}): ${programs.markdown}
- [${library.addresses.metadata}](${urls.metadataUrl}): RFC 8414
- [${programs.resource}](${urls.resourceMetadataUrl}): RFC 9728
- [${library.addresses.openApi}](${urls.openApiUrl})
`;
}
