/** Parts that the routes of pages share. */
import type { Service } from '../service.ts';
import type { BrowserSessions } from './browser-session.ts';
import type { Pages } from './page-answers.ts';

/** The service, its page sender and its browser sessions; one of each per process. */
export type PageParts = { readonly service: Service; readonly pages: Pages; readonly sessions: BrowserSessions };
