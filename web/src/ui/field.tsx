import { type ComponentProps, type ReactNode, useId } from 'react'

const inputLook =
  'w-full h-8 rounded-md border border-line bg-surface px-2.5 text-sm text-ink transition-colors hover:border-strong focus:border-accent focus:outline-none focus:ring-2 focus:ring-accent/30 aria-invalid:border-bad disabled:opacity-60 scroll-my-16'

type FieldProps = {
  label: ReactNode
  hint?: ReactNode
  problem?: string | undefined
  children: (props: {
    id: string
    'aria-invalid': true | undefined
    'aria-describedby': string | undefined
  }) => ReactNode
}

/**
 * The service begins a message as the end of a sentence about its field. Names of fields keep their letters.
 */
const capitalized = (message: string) => message.replace(/^[a-z](?=[a-z]* )/, first => first.toUpperCase())

/** A label, its input, a hint, and a validation problem. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId()
  const note = problem === undefined ? hint : capitalized(problem)
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-muted">
        {label}
      </label>
      {children({
        id,
        'aria-invalid': problem ? true : undefined,
        'aria-describedby': note ? `${id}-note` : undefined,
      })}
      {note && (
        <p id={`${id}-note`} className={`mt-1 text-xs ${problem ? 'text-bad' : 'text-faint'}`}>
          {note}
        </p>
      )}
    </div>
  )
}

export const Input = ({ className = '', ...rest }: ComponentProps<'input'>) => (
  <input {...rest} autoComplete="off" className={`${inputLook} ${className}`} />
)

export const Select = ({ className = '', ...rest }: ComponentProps<'select'>) => (
  <select {...rest} className={`${inputLook} pr-1 ${className}`} />
)

export const TextArea = ({ className = '', ...rest }: ComponentProps<'textarea'>) => (
  <textarea {...rest} className={`${inputLook} h-auto py-2 ${className}`} />
)

/** A switch with its label beside it. */
export function Switch({ label, ...rest }: Omit<ComponentProps<'input'>, 'type'> & { label: ReactNode }) {
  return (
    <label className="inline-flex min-h-6 items-center gap-2 text-sm">
      <input {...rest} type="checkbox" role="switch" aria-checked={rest.checked} className="peer sr-only" />
      <span
        aria-hidden
        className="relative h-4 w-7 shrink-0 rounded-full bg-strong transition-colors after:absolute after:top-0.5 after:left-0.5 after:size-3 after:rounded-full after:bg-surface after:transition-transform peer-checked:bg-ok peer-checked:after:translate-x-3 peer-focus-visible:outline-2 peer-focus-visible:outline-accent peer-focus-visible:outline-offset-1 peer-disabled:opacity-50"
      />
      {label}
    </label>
  )
}
