import type { ApiDocument, Media } from '../../api/api-document.ts'
import { exampleOf } from '../../reference/curl.ts'
import { fieldsOf, objectIn, typeOf } from '../../reference/fields.ts'
import { CodeBlock } from './code-block.tsx'
import { FieldList } from './field-list.tsx'

type Props = { document: ApiDocument; type: string; media: Media; request?: boolean }

/** A body or an answer of one content type: what it is, its fields, an example. */
export function MediaView({ document, type, media, request = false }: Props) {
  const object = media.schema ? objectIn(document, media.schema) : null
  const example = exampleOf(document, media)
  return (
    <div className="mb-3">
      <p className="mb-1.5 text-muted text-xs">
        <code className="font-mono">{type}</code>
        {object && media.schema && (
          <>
            {' '}
            · <span className="font-mono">{typeOf(document, media.schema)}</span>
          </>
        )}
      </p>
      {object && <FieldList document={document} fields={fieldsOf(document, object)} request={request} />}
      {example !== undefined && (
        <div className="mt-2">
          <p className="mb-1 text-2xs text-faint uppercase tracking-wide">Example</p>
          <CodeBlock
            label={request ? 'Example of the body' : 'Example of the answer'}
            text={typeof example === 'string' ? example : JSON.stringify(example, null, 2)}
          />
        </div>
      )}
    </div>
  )
}
