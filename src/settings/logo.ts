/** The operator's logo, read once at the start. */
import { readFileSync } from 'node:fs';
import { InstallationError } from '../process/installation-error.ts';

/** A picture as it is served: its media type and its bytes. */
export type Logo = { readonly type: string; readonly bytes: Buffer };

/** Reads the SVG or PNG file that a variable names; null for no path. Throws `InstallationError` for anything else. */
export function readLogo(
  variable: 'VALETKEY_PRODUCT_LOGO' | 'VALETKEY_PRODUCT_LOGO_DARK',
  path: string | null,
): Logo | null {
  if (path === null) return null;
  const type = { svg: 'image/svg+xml', png: 'image/png' }[path.split('.').at(-1)?.toLowerCase() ?? ''];
  if (!type)
    throw new InstallationError({
      problem: `${variable}: ${path} is neither .svg nor .png`,
      remedy: 'name an SVG or PNG file',
    });
  try {
    return { type, bytes: readFileSync(path) };
  } catch (error) {
    throw new InstallationError({
      problem: `${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      remedy: 'name an SVG or PNG file',
    });
  }
}
