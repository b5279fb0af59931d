// The list of what a package is made of (CycloneDX), as npm tells it from the lock: the same for the same lock, since what npm
// adds of the moment is left out.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its name, wherever it is shipped. */
export const BILL_OF_MATERIALS = 'sbom.cdx.json';

/** Writes it beside the manifest and the lock of a folder. @param {string} folder */
export function writeBillOfMaterials(folder) {
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only', '--omit', 'dev'];
  const { serialNumber, metadata, ...bill } = JSON.parse(
    execFileSync('npm', ['sbom', ...options], { cwd: folder, encoding: 'utf8' }),
  );
  // npm calls the whole by the name of its folder.
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const whole = { ...bill, metadata: { component: { ...metadata.component, name } } };
  writeFileSync(join(folder, BILL_OF_MATERIALS), `${JSON.stringify(whole, null, 2)}\n`);
}

if (import.meta.filename === process.argv[1]) writeBillOfMaterials(process.argv[2] ?? '.');
