import type { ApiDocument, Media } from '../../api/api-document.ts'
import { examplesOf } from '../../reference/curl.ts'
import { fieldsOf, objectIn, typeOf } from '../../reference/fields.ts'
import { CodeBlock } from './code-block.tsx'
import { FieldList } from './field-list.tsx'

type Props = { document: ApiDocument; type: string; media: Media; request?: boolean }

/** A body or a response of one content type: what it is or can be, the fields of that, examples. */
export function MediaView({ document, type, media, request = false }: Props) {
  const shapes = (media.schema?.oneOf ?? [media.schema ?? {}]).map(schema => ({
    name: typeOf(document, schema),
    object: objectIn(document, schema),
  }))
  const examples = examplesOf(document, media)
  return (
    <div className="mb-3">
      {shapes.map(({ name, object }, index) => (
        <div key={name} className="mb-2">
          <p className="mb-1.5 text-muted text-xs">
            {index === 0 ? <code className="font-mono">{type}</code> : 'or'}
            {object && (
              <>
                {' '}
                · <span className="font-mono">{name}</span>
              </>
            )}
          </p>
          {object && <FieldList document={document} fields={fieldsOf(document, object)} request={request} />}
        </div>
      ))}
      {examples.map(({ name, value }) => (
        <div key={name} className="mt-2">
          <p className="mb-1 text-2xs text-faint uppercase tracking-wide">
            Example{examples.length > 1 && ` of ${name}`}
          </p>
          <CodeBlock
            label={`Example of ${request ? 'the body' : examples.length > 1 ? name : 'the answer'}`}
            text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
          />
        </div>
      ))}
    </div>
  )
}
