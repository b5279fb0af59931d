import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

const LOOPBACK = ['127.0.0.1', '::1'];

/** The first `count` ports from `first` on that nobody listens at on loopback. */
export async function portsFrom(first: number, count: number): Promise<number[]> {
  const free: number[] = [];
  for (let port = first; free.length < count; port++) if (await isFree(port)) free.push(port);
  return free;
}

/** A number of free ports that the system picks. */
export async function anyPorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** A server that listens at the first port from `first` on that it gets. */
export async function listenFrom(first: number): Promise<Server> {
  const server = createHttpServer();
  for (let port = first; ; port++) {
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return server;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Both families, since a browser that asks for `localhost` may try either one first. */
async function isFree(port: number): Promise<boolean> {
  for (const host of LOOPBACK) {
    const server = createServer();
    try {
      await once(server.listen({ port, host }), 'listening');
      await once(server.close(), 'close');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') return false;
    }
  }
  return true;
}
