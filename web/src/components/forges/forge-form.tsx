import type { HTMLInputTypeAttribute, ReactNode } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useAdminReason } from '../permission.ts'

type FormProps = {
  label: string
  /** The request that the form sends. */
  request: { isPending: boolean; error: Error | null; mutate(): void }
  /** The parts of the request that have a field here. Problems with other parts are shown below the fields. */
  parts: string[]
  /** What is missing before the form can be sent, or null. */
  missing: string | null
  button: string
  variant?: 'primary' | 'plain'
  /** Replaces the button. */
  next?: ReactNode
  children: ReactNode
}

/** A form that changes the connections of the organization. Shows why the user may not change them, and errors of the service. */
export function ForgeForm({ label, request, parts, missing, button, variant = 'plain', next, children }: FormProps) {
  const forbidden = useAdminReason()
  const reason = forbidden ?? missing
  const shown = Object.keys(fieldMessages(request.error))
  return (
    <form
      aria-label={label}
      className="space-y-3"
      onSubmit={event => {
        event.preventDefault()
        if (!reason && !request.isPending) request.mutate()
      }}
    >
      <fieldset disabled={forbidden !== null} className="min-w-0 space-y-3">
        {children}
      </fieldset>
      {request.error && !shown.some(part => parts.includes(part)) && <Notice tone="bad">{visible(request.error.message)}</Notice>}
      {next ?? (
        <Button type="submit" variant={variant} reason={reason} busy={request.isPending}>
          {button}
        </Button>
      )}
    </form>
  )
}

type TextProps = {
  label: string
  hint: string
  problem: string | undefined
  type?: HTMLInputTypeAttribute
  value: string
  on_change(text: string): void
}

export const ForgeText = ({ label, hint, problem, type, value, on_change }: TextProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {props => <Input {...props} type={type} value={value} spellCheck={false} onChange={event => on_change(event.target.value)} />}
  </Field>
)
