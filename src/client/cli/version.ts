import { readFileSync } from 'node:fs'
import { storedJson } from '../../core/json/stored-json.ts'

const manifest = storedJson<{ version: string }>(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)

/** The version of this client. `scripts/build-client.ts` replaces this module by the value. */
export const version = manifest.version
