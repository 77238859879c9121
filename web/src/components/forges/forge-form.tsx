import type { HTMLInputTypeAttribute, ReactNode } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useAdminReason } from '../permission.ts'

type FormProps = {
  label: string
  /** What it sends. */
  request: { isPending: boolean; error: Error | null; mutate(): void }
  /** Which parts of the request it has fields for: what is wrong with another is said below them. */
  parts: string[]
  /** What has to be given before it can be sent, or null. */
  missing: string | null
  button: string
  variant?: 'primary' | 'plain'
  /** Stands in the place of the button. */
  next?: ReactNode
  children: ReactNode
}

/** A form that changes what the organization is connected to: who may not is told so, and so is what the service says against it. */
export function ForgeForm({ label, request, parts, missing, button, variant = 'plain', next, children }: FormProps) {
  const forbidden = useAdminReason()
  const reason = forbidden ?? missing
  const said = Object.keys(fieldMessages(request.error))
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
      {request.error && !said.some(part => parts.includes(part)) && <Notice tone="bad">{visible(request.error.message)}</Notice>}
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
