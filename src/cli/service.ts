/** `serve` and `demo`: the two commands that keep running. */
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';

/** Adds the commands that run the service. */
export function addServiceCommands(program: CliCommand, run: CommandRun): void {
  program
    .leaf('serve', 'Run the service, and print its two addresses once they answer.', ['serve'])
    .action(async () => {
      run.exitCode = await run.context.serve({ json: run.json });
    });
  program
    .leaf('demo', 'Try the whole flow on a throw-away database, with a demo user and a demo app.', [
      'demo',
      'demo --headless',
      'demo --product',
    ])
    .option('--headless', 'run the flow without a browser, and print every step')
    .option('--product', 'use a demo product, which signs its own users in and shows their connected apps')
    .action(async ({ headless = false, product = false }: { headless?: boolean; product?: boolean }) => {
      run.exitCode = await run.context.demo({ headless, product, json: run.json });
    });
}
