import { readFileSync, writeFileSync } from 'node:fs'
import { errorReferenceMarkdown } from '../src/contract/error-reference.ts'
import { openApiDocument } from '../src/contract/openapi.ts'
import { rolesAndScopesMarkdown } from './roles-and-scopes.ts'

/** The address in the checked-in document; a running service replaces it by its own. */
export const DOCUMENT_URL = 'http://127.0.0.1:4600'

export const ERRORS_FILE = new URL('../docs/reference/errors.md', import.meta.url)
export const ROLES_FILE = new URL('../docs/reference/roles-and-scopes.md', import.meta.url)
export const DOCUMENT_FILE = new URL('../docs/openapi.json', import.meta.url)
/** The document of the last release: what must not break. A release takes it over by `--released`. */
export const RELEASED_FILE = new URL('../docs/openapi.released.json', import.meta.url)

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/**
 * The text of docs/openapi.json: `node scripts/write-openapi.ts` writes it, test/drift.test.ts compares it.
 */
export function documentText(base_url = DOCUMENT_URL): string {
  return `${JSON.stringify(openApiDocument({ base_url, version }), null, 2)}\n`
}

if (import.meta.main) {
  writeFileSync(DOCUMENT_FILE, documentText())
  writeFileSync(ERRORS_FILE, errorReferenceMarkdown())
  writeFileSync(ROLES_FILE, rolesAndScopesMarkdown())
  if (process.argv.includes('--released')) writeFileSync(RELEASED_FILE, documentText())
}
