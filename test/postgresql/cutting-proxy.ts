/** A line to the server that is cut at the worst moment: when a request was sent whole and its answer is not here yet. */
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A proxy before a server. */
export type CuttingProxy = {
  /** An address of the server by way of the proxy. */
  through(url: string): string;
  /** Cuts the line after the next request that holds a text; the server gets it, and its answer gets lost. */
  cutAfter(text: string): void;
  /** How many lines were cut. */
  readonly cuts: number;
};

/** Starts a proxy that ends with the test. */
export async function startCuttingProxy(t: Pick<TestContext, 'after'>, port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let awaited: string | null = null;
  let cuts = 0;
  const proxy = createServer((inside) => {
    const outside = dial(port, '127.0.0.1');
    let isCut = false;
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    inside.on('data', (request) => {
      outside.write(request);
      if (awaited === null || !request.includes(awaited)) return;
      awaited = null;
      isCut = true;
      cuts += 1;
      inside.destroy();
      // The server finishes what it was asked, and then finds nobody there.
      outside.end();
    });
    outside.on('data', (answer) => {
      if (!isCut) inside.write(answer);
    });
    inside.on('close', () => {
      if (!isCut) outside.destroy();
    });
    outside.on('close', () => inside.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    through(url) {
      const address = new URL(url);
      address.port = String((proxy.address() as AddressInfo).port);
      return address.href;
    },
    cutAfter(text) {
      awaited = text;
    },
    get cuts() {
      return cuts;
    },
  };
}
