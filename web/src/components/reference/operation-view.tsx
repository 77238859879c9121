import type { ReactNode } from 'react'
import type { ApiDocument } from '../../api/api-document.ts'
import type { Entry } from '../../reference/chapters.ts'
import { curlOf } from '../../reference/curl.ts'
import { parameterField } from '../../reference/fields.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../markdown.tsx'
import { CodeBlock } from './code-block.tsx'
import { ErrorTable } from './error-table.tsx'
import { FieldList } from './field-list.tsx'
import { MediaView } from './media-view.tsx'
import { MethodMark } from './method-mark.tsx'

const sections = { path: 'Path', query: 'Query', header: 'Headers' }

/** One operation, whole. */
export function OperationView({ document, entry }: { document: ApiDocument; entry: Entry }) {
  const { method, path, operation } = entry
  const success = operation.responses['200']
  return (
    <article aria-label={operation.summary}>
      <h1 className="font-semibold text-xl tracking-tight">{operation.summary}</h1>
      <div className="mt-1.5 mb-3 flex flex-wrap items-center gap-x-2 gap-y-1">
        <div className="flex min-w-0 items-center gap-1 rounded-md border border-line bg-surface py-0.5 pr-0.5 pl-2.5">
          <MethodMark method={method} />
          <code className="font-mono text-xs [overflow-wrap:anywhere]">{path}</code>
          <CopyButton label="Copy the path" text={() => path} />
        </div>
        {operation['x-stability'] === 'alpha' ? <Badge tone="warn">alpha</Badge> : <Badge>stable</Badge>}
        {operation.deprecated && <Badge tone="bad">deprecated</Badge>}
      </div>
      <Markdown text={operation.description} />

      {(['path', 'query', 'header'] as const).map(section => {
        const fields = operation.parameters
          .filter(one => one.in === section)
          .map(one => parameterField(document, one))
        return (
          fields.length > 0 && (
            <Part key={section} title={sections[section]}>
              <FieldList document={document} fields={fields} request />
            </Part>
          )
        )
      })}
      {operation.requestBody && (
        <Part title="Body">
          {Object.entries(operation.requestBody.content).map(([type, media]) => (
            <MediaView key={type} document={document} type={type} media={media} request />
          ))}
        </Part>
      )}
      <Part title="Example request">
        <CodeBlock label="A curl command" text={curlOf(document, entry)} />
      </Part>
      <Part title="Response">
        {Object.entries(success?.content ?? {}).map(([type, media]) => (
          <MediaView key={type} document={document} type={type} media={media} />
        ))}
        <p className="text-muted text-xs">
          With the headers{' '}
          {Object.keys(success?.headers ?? {}).map((name, index) => (
            <span key={name}>
              {index > 0 && ', '}
              <code className="font-mono">{name}</code>
            </span>
          ))}
          .
        </p>
      </Part>
      <Part title="Errors">
        <ErrorTable document={document} responses={operation.responses} />
      </Part>
    </article>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="mt-6">
    <h2 className="mb-2 font-semibold text-base">{title}</h2>
    {children}
  </section>
)
