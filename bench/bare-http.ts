/** The floor: node:http alone, with the same requests and answers. `PORT` */
import { createServer } from 'node:http';
import { ME_PATH } from '../src/http/paths.ts';
import { madeUpPair, OWNER } from './made-up.ts';

const server = createServer((request, response) => {
  const answer = () => {
    const body = JSON.stringify(request.url === ME_PATH ? OWNER : madeUpPair());
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };
  if (request.method === 'GET') answer();
  else request.on('end', answer).resume();
});
server.listen(Number(process.argv[2]), '127.0.0.1');
