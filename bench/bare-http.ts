/** The floor: node:http alone, with the same requests and answers. `PORT` */
import { createServer } from 'node:http';
import { ME_PATH, STANDARD_PATHS } from '../src/http/service/paths.ts';
import { ACTIVE, madeUpPair, OWNER } from './made-up.ts';

const answers = new Map<string | undefined, object>([
  [ME_PATH, OWNER],
  [STANDARD_PATHS.introspect, ACTIVE],
]);

const server = createServer((request, response) => {
  const answer = () => {
    const body = JSON.stringify(answers.get(request.url) ?? madeUpPair());
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };
  if (request.method === 'GET') answer();
  else request.on('end', answer).resume();
});
// As the others here that serve with node:http: see peers/serve.mjs.
server.keepAliveTimeout = 0;
server.listen(Number(process.argv[2]), '127.0.0.1');
