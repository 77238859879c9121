import type { Endpoint, Scope } from '../src/contract/endpoint.ts'
import { pathsOf, scopes } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/endpoints.ts'
import { roleScopes } from '../src/core/access/permissions.ts'

const roles = Object.keys(roleScopes) as (keyof typeof roleScopes)[]
const operations = Object.entries(endpoints as Record<string, Endpoint>)

const introduction = `# Roles and scopes

A member has one role in an organization. A role permits scopes, and an operation requires at most one scope. The scopes of a token restrict the role of its user: a request needs a scope that both have. A token can also be restricted to one organization, to some repositories and to a period ([secure access](../security/access.md)).

This page is generated from \`src/core/access/permissions.ts\` and \`src/contract/endpoints.ts\` by \`node scripts/write-openapi.ts\`; a test compares it. \`…\` stands for \`/v1/organizations/{org_id}\`.

`

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map(row).join('')
const shortened = (path: string) => path.replace(/^\/v1\/organizations\/\{org_id\}(?=\/|$)/, '…')
const rowsOf = (wanted: (endpoint: Endpoint) => boolean) =>
  operations
    .filter(([, endpoint]) => wanted(endpoint))
    .map(([name, endpoint]) => [
      `\`${name}\``,
      `\`${endpoint.method} ${shortened(pathsOf(endpoint)[0] ?? '')}\``,
      endpoint.summary.replaceAll('|', '\\|'),
    ])

const operationTable = (wanted: (endpoint: Endpoint) => boolean) =>
  table(['operation', 'request', 'effect'], rowsOf(wanted))
const scopeSection = (scope: Scope) => {
  const allowed = roles.filter(role => roleScopes[role].includes(scope))
  return `### ${scope}\n\nRoles: ${allowed.join(', ')}.\n\n${operationTable(endpoint => endpoint.scope === scope)}\n`
}

/**
 * Returns docs/reference/roles-and-scopes.md: which role has which scope, and which operations a scope
 * permits.
 */
export function rolesAndScopesMarkdown(): string {
  const matrix = table(
    ['scope', ...roles],
    scopes.map(scope => [
      `[\`${scope}\`](#${scope.replace(':', '')})`,
      ...roles.map(role => (roleScopes[role].includes(scope) ? 'yes' : '')),
    ]),
  )
  return [
    introduction,
    `## Scopes of a role\n\n${matrix}\n`,
    'An organization always has at least one ADMIN.\n\n',
    `## Operations of a scope\n\n${scopes.map(scopeSection).join('')}`,
    `## Operations without a scope\n\nAny valid token may call them; some check the caller themselves, which their description in the API reference states.\n\n`,
    operationTable(endpoint => endpoint.access === 'token' && endpoint.scope === null),
    '\n## Operations without a token\n\nPublic operations, and those of the browser session, which its cookie authenticates.\n\n',
    operationTable(endpoint => endpoint.access !== 'token'),
  ].join('')
}
