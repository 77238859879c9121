import { useRef, useState } from 'react'
import { fieldMessages, messageWithin } from '../../api/api-error.ts'
import { type Effects, useRequest } from './use-request.ts'

type Form<Draft, Result> = Effects<Result> & {
  /** What the fields contain until they are edited. */
  saved: Draft
  /** `touched`: the fields that were edited. */
  send: (draft: Draft, touched: Partial<Draft>) => Promise<Result>
  /** The names that the service has for fields that are named differently here. */
  wire?: { [Name in keyof Draft]?: string[] }
  /** The fields that stay as they were edited after a success. */
  kept?: (keyof Draft)[]
}

/**
 * The state of a form that sends one request: what was edited, and the problems of the service at the
 * fields. `props` are those of its `ApiForm`, `field(name)` those of a field. After a success, the fields
 * contain what is saved, and what was edited while it was sent.
 */
export function useForm<Draft extends object, Result>({
  saved,
  send,
  wire = {},
  kept = [],
  on_done,
  ...effects
}: Form<Draft, Result>) {
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const draft = { ...saved, ...touched }
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const sent = useRef(touched)
  const request = useRequest(
    () => {
      sent.current = touched
      return send(draft, touched)
    },
    {
      ...effects,
      on_done: result => {
        setTouched(old => {
          const names = (Object.keys(old) as (keyof Draft)[]).filter(
            name => kept.includes(name) || old[name] !== sent.current[name],
          )
          return Object.fromEntries(names.map(name => [name, old[name]])) as Partial<Draft>
        })
        return on_done?.(result)
      },
    },
  )
  const problems = fieldMessages(request.error)
  const namesOf = (name: keyof Draft & string) => wire[name] ?? [name]
  const names = (Object.keys(saved) as (keyof Draft & string)[]).flatMap(namesOf)
  return {
    draft,
    set,
    request,
    changed: Object.keys(touched).length > 0,
    props: {
      request,
      fields: Object.keys(problems).filter(problem =>
        names.some(name => problem === name || problem.startsWith(`${name}.`)),
      ),
    },
    field: <Name extends keyof Draft & string>(name: Name) => ({
      value: draft[name],
      on_change: (value: Draft[Name]) => set({ [name]: value } as unknown as Partial<Draft>),
      problem: namesOf(name)
        .map(wire_name => messageWithin(problems, wire_name))
        .find(problem => problem !== undefined),
    }),
  }
}

/** What the parts of a form get of it. */
export type FormState<Draft extends object> = Pick<
  ReturnType<typeof useForm<Draft, unknown>>,
  'draft' | 'set' | 'field'
>
