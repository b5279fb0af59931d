/** The yardstick: Fastify with its defaults, which reads what an app sends and answers as much as Valetkey does. `PORT` */
import fastify from 'fastify';
import { ME_PATH, REFRESH_TOKEN_PATH, STANDARD_PATHS, TOKEN_PATH } from '../src/http/service/paths.ts';
import { ACTIVE, madeUpPair, OWNER } from './made-up.ts';

const app = fastify();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
for (const path of [TOKEN_PATH, REFRESH_TOKEN_PATH]) app.post(path, async () => madeUpPair());
app.post(STANDARD_PATHS.introspect, async () => ACTIVE);
app.get(ME_PATH, async () => OWNER);
app.get('/healthz', async () => ({ status: 'alive' }));
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
