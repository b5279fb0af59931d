/** Parts that the routes of pages share. */
import type { Service } from '../service/service.ts';
import type { Pages } from './send-page.ts';
import type { BrowserSessions } from './session/browser-session.ts';

/** The service, its page sender and its browser sessions; one of each per process. */
export type PageParts = { readonly service: Service; readonly pages: Pages; readonly sessions: BrowserSessions };
