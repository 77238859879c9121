import type { Body, Result } from '../../../../src/contract/calls.ts'

export type McpServer = Result<'listMcpServers'>['items'][number]
type Request = Body<'setMcpServer'>

/** How the credential is sent. */
type CredentialKind = 'none' | 'bearer' | 'header' | 'oauth' | 'sign_in'

/** What is typed. Lists have one item in each line. */
export type ServerDraft = {
  name: string
  kind: 'program' | 'address'
  command: string
  args: string
  environment: string
  url: string
  headers: string
  sent: CredentialKind
  /** Empty: unchanged. */
  credential: string
  credential_header: string
  client_id: string
  issuer: string
  scope: string
  tools: string
  enabled: boolean
  timeout_seconds: string
}

const empty: ServerDraft = {
  name: '',
  kind: 'program',
  command: '',
  args: '',
  environment: '',
  url: '',
  headers: '',
  sent: 'none',
  credential: '',
  credential_header: '',
  client_id: '',
  issuer: '',
  scope: '',
  tools: '',
  enabled: true,
  timeout_seconds: '60',
}

const joined = (set: Record<string, string>, separator: string) =>
  Object.entries(set)
    .map(([name, value]) => `${name}${separator}${value}`)
    .join('\n')

/** The draft of a server as it is set; null: of a new one. */
export function draftOf(server: McpServer | null): ServerDraft {
  if (server === null) return empty
  const { oauth, sign_in, credential_header, has_credential } = server
  const client = oauth ?? sign_in
  return {
    name: server.name,
    kind: server.url === null ? 'program' : 'address',
    command: server.command ?? '',
    args: server.args.join('\n'),
    environment: joined(server.environment, '='),
    url: server.url ?? '',
    headers: joined(server.headers, ': '),
    sent:
      sign_in !== null
        ? 'sign_in'
        : oauth !== null
          ? 'oauth'
          : !has_credential
            ? 'none'
            : credential_header === null
              ? 'bearer'
              : 'header',
    credential: '',
    credential_header: credential_header ?? '',
    client_id: client?.client_id ?? '',
    issuer: client?.issuer ?? '',
    scope: client?.scope ?? '',
    tools: server.tools?.join('\n') ?? '',
    enabled: server.enabled,
    timeout_seconds: String(server.timeout_seconds),
  }
}

const linesOf = (text: string) => text.split('\n').filter(line => line.trim() !== '')
const trimmedLines = (text: string) => linesOf(text).map(line => line.trim())

/**
 * Names and values of lines like `NAME=value`; a line without the separator has an empty value, which the
 * service refuses or takes.
 */
function pairsOf(text: string, separator: '=' | ':'): Record<string, string> {
  return Object.fromEntries(
    trimmedLines(text).map(line => {
      const at = line.indexOf(separator)
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

/** Returns the request of a draft. */
export function requestOf(draft: ServerDraft): Request {
  const tools = trimmedLines(draft.tools)
  const common = {
    tools: tools.length === 0 ? null : tools,
    enabled: draft.enabled,
    timeout_seconds: Number(draft.timeout_seconds),
  }
  if (draft.kind === 'program')
    return {
      command: draft.command.trim(),
      args: linesOf(draft.args),
      environment: pairsOf(draft.environment, '='),
      ...common,
    }
  const { client_id, issuer, scope } = draft
  return {
    url: draft.url.trim(),
    headers: pairsOf(draft.headers, ':'),
    credential_header: draft.sent === 'header' ? draft.credential_header.trim() : null,
    oauth:
      draft.sent === 'oauth'
        ? { client_id: client_id.trim(), issuer: issuer.trim(), scope: scope.trim() || null }
        : null,
    sign_in:
      draft.sent === 'sign_in'
        ? { client_id: client_id.trim() || null, issuer: issuer.trim() || null, scope: scope.trim() || null }
        : null,
    ...(draft.sent === 'none' || (draft.sent === 'sign_in' && client_id.trim() === '')
      ? { credential: null }
      : draft.credential !== '' && { credential: draft.credential.trim() }),
    ...common,
  }
}

/** What is missing before the draft can be sent, or null. */
export function missingIn(draft: ServerDraft, had_credential: boolean): string | null {
  if (draft.name.trim() === '') return 'Enter a name first'
  if (draft.kind === 'program') return draft.command.trim() === '' ? 'Enter the program first' : null
  if (draft.url.trim() === '') return 'Enter the address first'
  if (draft.sent === 'sign_in')
    return draft.client_id.trim() !== '' && draft.issuer.trim() === ''
      ? 'Enter the issuer of the client first'
      : null
  if (draft.sent !== 'none' && draft.credential === '' && !had_credential) return 'Enter the credential first'
  if (draft.sent === 'header' && draft.credential_header.trim() === '')
    return 'Enter the name of the header first'
  return draft.sent === 'oauth' && (draft.client_id.trim() === '' || draft.issuer.trim() === '')
    ? 'Enter the client first'
    : null
}
