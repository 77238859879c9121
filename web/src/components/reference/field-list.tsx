import { useState } from 'react'
import type { ApiDocument, Schema } from '../../api/api-document.ts'
import { type Field, fieldsOf } from '../../reference/fields.ts'
import { Badge } from '../../ui/badge.tsx'
import { Words } from './words.tsx'

type Props = {
  document: ApiDocument
  fields: Field[]
  /** Whether to mark required fields, which only matters for requests. */
  request?: boolean
}

/** A list of fields. Fields of nested objects are opened on demand, because a schema may contain itself. */
export const FieldList = ({ document, fields, request = false }: Props) => (
  <ul className="divide-y divide-line rounded-md border border-line bg-surface">
    {fields.map(field => (
      <li key={field.name} className="min-w-0 px-3 py-2 [overflow-wrap:anywhere]" data-field={field.name}>
        <div className="flex flex-wrap items-baseline gap-x-2.5">
          <code className="font-mono font-semibold text-xs">{field.name}</code>
          <span className="font-mono text-2xs text-muted">{field.type}</span>
          {request && field.required && <span className="text-2xs text-bad">required</span>}
          {!request && !field.required && <span className="text-2xs text-faint">not always there</span>}
          {field.deprecated && <Badge tone="warn">deprecated</Badge>}
          {field.facts.length > 0 && <span className="text-2xs text-faint">{field.facts.join(' · ')}</span>}
        </div>
        {field.description && (
          <p className="text-muted text-xs">
            <Words text={field.description} />
          </p>
        )}
        {field.values.length > 0 && (
          <p className="mt-0.5 flex flex-wrap gap-1">
            {field.values.map(value => (
              <code
                key={value}
                className="rounded border border-line bg-sunken px-1 font-mono text-2xs text-muted"
              >
                {value}
              </code>
            ))}
          </p>
        )}
        {field.inside && (
          <Inside document={document} name={field.name} schema={field.inside} request={request} />
        )}
      </li>
    ))}
  </ul>
)

function Inside({
  document,
  name,
  schema,
  request,
}: {
  document: ApiDocument
  name: string
  schema: Schema
  request: boolean
}) {
  const [open, setOpen] = useState(false)
  return (
    <details className="mt-1" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className="inline-flex min-h-6 items-center text-accent text-xs">Fields of {name}</summary>
      {open && (
        <div className="pt-1">
          <FieldList document={document} fields={fieldsOf(document, schema)} request={request} />
        </div>
      )}
    </details>
  )
}
