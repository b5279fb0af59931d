/** What the routes of pages share. */
import type { Service } from '../service.ts';
import type { BrowserSessions } from './browser-session.ts';
import type { Pages } from './page-answers.ts';

/** The service, what answers with pages, and the sessions of browsers; one of each in a process. */
export type PageParts = { readonly service: Service; readonly pages: Pages; readonly sessions: BrowserSessions };
