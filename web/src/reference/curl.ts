import type { ApiDocument, Media, Parameter } from '../api/api-document.ts'
import type { Entry } from './chapters.ts'
import { resolve } from './fields.ts'

/** The examples of a media type, with their names. */
export const examplesOf = (
  document: ApiDocument,
  media: Media | undefined,
): { name: string; value: unknown }[] =>
  Object.entries(media?.examples ?? {}).map(([name, example]) => ({
    name,
    value: resolve(document, example).value,
  }))

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const placeholder = ({ name, schema }: Parameter) => ([schema.type].flat().includes('integer') ? '1' : name)

/** A command line that calls the operation. The token is a variable; ids are those of a fresh service. */
export function curlOf(document: ApiDocument, { method, path, operation }: Entry): string {
  const inputs = (where: string) => operation.parameters.filter(parameter => parameter.in === where)
  const filled = inputs('path').reduce(
    (at, parameter) => at.replace(`{${parameter.name}}`, placeholder(parameter)),
    path,
  )
  const query = inputs('query')
    .filter(parameter => parameter.required)
    .map(parameter => `${parameter.name}=${placeholder(parameter)}`)
  const url = `${document.servers[0]?.url ?? ''}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`
  const [body] = examplesOf(document, operation.requestBody?.content['application/json'])
  const streams = 'text/event-stream' in (operation.responses['200']?.content ?? {})
  return [
    `curl -sS${streams ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...(operation.security.some(way => 'bearer' in way)
      ? ['-H "Authorization: Bearer $AGENTRUN_TOKEN"']
      : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.value, null, 2))}`]),
  ].join(' \\\n  ')
}
