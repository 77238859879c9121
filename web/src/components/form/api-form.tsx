import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, Switch, TextArea } from '../../ui/field.tsx'
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
    variant = 'primary',
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

export type FieldProps<Value> = {
  label: string
  hint?: ReactNode
  problem?: string | undefined
  value: Value
  on_change(value: Value): void
}

type TextProps = FieldProps<string> &
  Pick<ComponentProps<'input'>, 'type' | 'placeholder' | 'autoFocus' | 'min' | 'max'> & { mono?: boolean }

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

type LinesProps = FieldProps<string> & Pick<ComponentProps<'textarea'>, 'rows' | 'ref'> & { code?: boolean }

/** A field for several lines: prose, or code, which is not checked for spelling. */
export const TextAreaField = ({ label, hint, problem, code, on_change, ...rest }: LinesProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {props => (
      <TextArea
        {...props}
        {...rest}
        {...(code && { spellCheck: false, autoComplete: 'off', className: 'font-mono text-xs' })}
        onChange={event => on_change(event.target.value)}
      />
    )}
  </Field>
)

type SelectProps<Value> = FieldProps<Value> & { name?: string; options: (readonly [Value, string])[] }

/** A choice of one value. Null is one of them, such as a default. */
export function SelectField<Value extends string | number | null>(props: SelectProps<Value>) {
  const { label, hint, problem, name, value, on_change, options } = props
  const choose = (text: string) => {
    const option = options.find(([value]) => String(value ?? '') === text)
    if (option) on_change(option[0])
  }
  return (
    <Field label={label} hint={hint} problem={problem}>
      {props => (
        <Select {...props} name={name} value={value ?? ''} onChange={event => choose(event.target.value)}>
          {options.map(([value, text]) => (
            <option key={value} value={value ?? ''}>
              {visible(text)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

export const SwitchField = ({ label, problem, value, on_change }: Omit<FieldProps<boolean>, 'hint'>) => (
  <>
    <Switch label={label} checked={value} onChange={event => on_change(event.target.checked)} />
    {problem && <p className="text-bad text-xs">{problem}</p>}
  </>
)
