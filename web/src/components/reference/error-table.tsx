import type { ApiDocument, ResponseObject } from '../../api/api-document.ts'
import { examplesOf } from '../../reference/curl.ts'
import { resolve } from '../../reference/fields.ts'
import { CodeBlock } from './code-block.tsx'
import { Words } from './words.tsx'

/** Every error that the document declares, with an example. */
export function ErrorTable({
  document,
  responses,
}: {
  document: ApiDocument
  responses: Record<string, ResponseObject>
}) {
  const errors = Object.entries(responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, response]) => ({ status, response: resolve(document, response) }))
  const [example] = errors.flatMap(({ response }) =>
    examplesOf(document, response.content?.['application/problem+json']),
  )
  return (
    <>
      <table className="w-full text-left text-xs">
        <thead className="text-2xs text-faint">
          <tr>
            <th className="w-16 py-1 pr-3 font-medium">Status</th>
            <th className="py-1 font-medium">Code and meaning</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-line border-y">
          {errors.map(({ status, response }) => (
            <tr key={status}>
              <td className="py-1.5 pr-3 align-top font-mono">{status === 'default' ? 'others' : status}</td>
              <td className="py-1.5 text-muted [overflow-wrap:anywhere]">
                <Words text={response.description ?? ''} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {example && (
        <details className="mt-2">
          <summary className="inline-flex min-h-6 items-center text-accent text-xs">Example error</summary>
          <div className="pt-1">
            <CodeBlock label="Example of an error" text={JSON.stringify(example.value, null, 2)} />
          </div>
        </details>
      )}
    </>
  )
}
