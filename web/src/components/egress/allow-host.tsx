import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages, messageWithin } from '../../api/api-error.ts'
import { notify } from '../../ui/toast.ts'
import { ApiForm, TextField } from '../form/api-form.tsx'
import type { EgressTarget, Rule } from './egress-target.ts'

const empty = { host: '', port: '', methods: '' }

/** What was typed as a rule. The service reports what is wrong with it. */
const ruleOf = ({ host, port, methods }: typeof empty): Rule => ({
  host: host.trim(),
  port: port === '' ? null : Number(port),
  methods:
    methods.trim() === ''
      ? null
      : (methods
          .toUpperCase()
          .split(/[\s,]+/)
          .filter(Boolean) as Rule['methods']),
})

const repository_off = 'If agents have no network, this permits them the allowed hosts.'
const organization_off = 'It applies to repositories whose agents may reach allowed hosts.'

/** Allows one more host. */
export function AllowHost({ target: { saved, inherited, allow: send } }: { target: EgressTarget }) {
  const [typed, setTyped] = useState(empty)
  const set = (change: Partial<typeof empty>) => setTyped(old => ({ ...old, ...change }))
  const allow = useMutation({
    mutationFn: () => send(ruleOf(typed)),
    onSuccess: () => {
      setTyped(empty)
      notify('Allowed')
    },
  })
  const problems = fieldMessages(allow.error)
  // The organization's rules are sent as a whole: then the error names the field inside them.
  const problemOf = (field: string) =>
    messageWithin(problems, field) ?? messageWithin(problems, `agent.allow.${field}`)
  const off = (saved.agent.mode ?? inherited?.agent.mode) !== 'allowlist'
  return (
    <ApiForm
      label="Allow a host"
      request={allow}
      fields={Object.keys(problems).filter(name => /(^|\.)(host|port|methods)(\.|$)/.test(name))}
      missing={typed.host.trim() === '' ? 'Enter a host first' : null}
      submit="Allow host"
      note={
        off && <span className="text-faint text-xs">{inherited ? repository_off : organization_off}</span>
      }
    >
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_8rem_14rem]">
        <TextField
          label="Host"
          hint="Or *.example.com for all names below it."
          problem={problemOf('host')}
          placeholder="docs.example.com"
          mono
          value={typed.host}
          on_change={host => set({ host })}
        />
        <TextField
          label="Port"
          hint="Empty: 443 and 80."
          problem={problemOf('port')}
          type="number"
          value={typed.port}
          on_change={port => set({ port })}
        />
        <TextField
          label="Methods"
          hint="Of plain HTTP. Empty: all."
          problem={problemOf('methods')}
          placeholder="GET, HEAD"
          mono
          value={typed.methods}
          on_change={methods => set({ methods })}
        />
      </div>
    </ApiForm>
  )
}
