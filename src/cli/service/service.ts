/** `serve` and `demo`: the two commands that keep running. */
import { Option } from 'commander';
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';

type DemoOptions = { readonly headless?: boolean; readonly product?: boolean; readonly operator?: boolean };

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
      'demo --operator',
    ])
    .option('--headless', 'run the flow without a browser, and print every step')
    .option('--product', 'use a demo product, which signs its own users in and shows their connected apps')
    .addOption(
      new Option('--operator', 'also open a console for operators, with a year of made-up history').conflicts([
        'headless',
        'product',
      ]),
    )
    .action(async ({ headless = false, product = false, operator = false }: DemoOptions) => {
      run.exitCode = await run.context.demo({ headless, product, operator, json: run.json });
    });
}
