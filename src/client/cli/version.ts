import { readFileSync } from 'node:fs'

const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

/** The version of this client. `scripts/build-client.ts` puts the value in the place of this module. */
export const version = manifest.version
