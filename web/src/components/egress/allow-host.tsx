import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { EgressRule } from '../../../../src/contract/organizations/egress.ts'
import { fieldMessages, messageWithin } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { egressQuery } from '../../api/queries.ts'
import { notify } from '../../ui/toast.ts'
import { ApiForm, TextField } from '../api-form.tsx'

const empty = { host: '', port: '', methods: '' }

/** What was typed as a rule. The service reports what is wrong with it. */
const ruleOf = ({ host, port, methods }: typeof empty): EgressRule => ({
  host: host.trim(),
  port: port === '' ? null : Number(port),
  methods:
    methods.trim() === ''
      ? null
      : (methods
          .toUpperCase()
          .split(/[\s,]+/)
          .filter(Boolean) as EgressRule['methods']),
})

/** Allows one more host. `off`: agents have no network yet, which this changes. */
export function AllowHost({ repo_id, off }: { repo_id: number; off: boolean }) {
  const queries = useQueryClient()
  const [typed, setTyped] = useState(empty)
  const set = (change: Partial<typeof empty>) => setTyped(old => ({ ...old, ...change }))
  const allow = useMutation({
    mutationFn: () => call('allowRepositoryEgress', { params: { repo_id }, body: ruleOf(typed) }),
    onSuccess: set_now => {
      queries.setQueryData(egressQuery(repo_id).queryKey, set_now)
      setTyped(empty)
      notify('Allowed')
    },
  })
  const problems = fieldMessages(allow.error)
  return (
    <ApiForm
      label="Allow a host"
      request={allow}
      fields={Object.keys(problems)}
      missing={typed.host.trim() === '' ? 'Enter a host first' : null}
      submit="Allow host"
      note={off && <span className="text-faint text-xs">If agents have no network, this permits them the allowed hosts.</span>}
    >
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_8rem_14rem]">
        <TextField
          label="Host"
          hint="Or *.example.com for all names below it."
          problem={problems.host}
          placeholder="docs.example.com"
          mono
          value={typed.host}
          on_change={host => set({ host })}
        />
        <TextField
          label="Port"
          hint="Empty: 443 and 80."
          problem={problems.port}
          type="number"
          value={typed.port}
          on_change={port => set({ port })}
        />
        <TextField
          label="Methods"
          hint="Of plain HTTP. Empty: all."
          problem={messageWithin(problems, 'methods')}
          placeholder="GET, HEAD"
          mono
          value={typed.methods}
          on_change={methods => set({ methods })}
        />
      </div>
    </ApiForm>
  )
}
