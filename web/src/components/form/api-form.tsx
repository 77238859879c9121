import { type HTMLInputTypeAttribute, type ReactNode, useEffect, useRef } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { UnsavedChanges } from '../frame/unsaved-changes.tsx'

type FormProps = {
  label: string
  /** The request that the form sends. */
  request: { isPending: boolean; isSuccess?: boolean; error: Error | null; mutate(): void }
  /** The fields of the request that the form shows. Problems with other fields are shown below them. */
  fields: string[]
  /**
   * Why this person may not send it, or null; from permission.ts. The fields are then disabled, and the
   * reason replaces the button.
   */
  forbidden?: string | null
  /**
   * Of a form that changes what is saved: whether a value was edited. False: there is nothing to send. True:
   * leaving needs a confirmation.
   */
  changed?: boolean | undefined
  /** What is missing before the form can be sent, or null. */
  missing?: string | null
  submit: string
  variant?: 'primary' | 'plain'
  /** Beside the button. */
  note?: ReactNode
  /** Replaces the button. */
  next?: ReactNode
  children: ReactNode
}

/**
 * A form that sends one request of the API. Shows why a person may not send it, and the errors of the service
 * at their fields.
 */
export function ApiForm(props: FormProps) {
  const {
    label,
    request,
    fields,
    forbidden = null,
    changed,
    submit,
    variant = 'plain',
    note,
    next,
    children,
  } = props
  const missing = props.missing ?? (changed === false ? 'No changes to save' : null)
  const shown = Object.keys(fieldMessages(request.error))
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (request.error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [request.error])
  return (
    <>
      <form
        ref={form}
        aria-label={label}
        className="space-y-4"
        onSubmit={event => {
          event.preventDefault()
          if (forbidden === null && missing === null && !request.isPending) request.mutate()
        }}
      >
        <fieldset disabled={forbidden !== null} className="min-w-0 space-y-4">
          {children}
        </fieldset>
        {request.error && !shown.some(field => fields.includes(field)) && (
          <Notice tone="bad">{visible(request.error.message)}</Notice>
        )}
        {forbidden !== null && <p className="text-muted text-xs">{forbidden}.</p>}
        {forbidden === null &&
          (next ?? (
            <div className="flex items-center gap-3">
              <Button type="submit" variant={variant} reason={missing} busy={request.isPending}>
                {submit}
              </Button>
              {note}
            </div>
          ))}
      </form>
      {changed && <UnsavedChanges />}
    </>
  )
}

type TextProps = {
  label: string
  hint?: ReactNode
  problem?: string | undefined
  type?: HTMLInputTypeAttribute
  placeholder?: string
  mono?: boolean
  autoFocus?: boolean
  value: string
  on_change(text: string): void
}

/** A field for one line of text. */
export const TextField = ({ label, hint, problem, mono = false, on_change, ...rest }: TextProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {props => (
      <Input
        {...props}
        {...rest}
        spellCheck={false}
        className={mono ? 'font-mono text-xs' : ''}
        onChange={event => on_change(event.target.value)}
      />
    )}
  </Field>
)
