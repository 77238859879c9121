import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { useAdminReason } from '../../../components/permission.ts'
import { notify } from '../../../ui/toast.ts'
import { type Organization, organizationQuery } from '../organization-query.ts'
import { limitsQuery } from './limits-query.ts'

type Name = 'budget_usd_per_month' | 'runs_per_month' | 'max_concurrent_runs'
type Draft = Partial<Record<Name, string>>

/** The request for what was typed: an empty field is no limit. */
const bodyOf = ({ budget_usd_per_month: usd, runs_per_month: runs, max_concurrent_runs: active }: Draft) => ({
  ...(usd === undefined ? {} : { budget_usd_per_month: usd.trim() || null }),
  ...(runs === undefined ? {} : { runs_per_month: runs.trim() === '' ? null : Number(runs) }),
  ...(active === undefined ? {} : { max_concurrent_runs: active.trim() === '' ? null : Number(active) }),
})

export function Budgets({ organization }: { organization: Organization }) {
  const queries = useQueryClient()
  const forbidden = useAdminReason('budgets')
  const [typed, setTyped] = useState<Draft>({})
  const save = useMutation({
    mutationFn: () => call('updateOrganization', { body: bodyOf(typed) }),
    onSuccess: async saved => {
      queries.setQueryData(organizationQuery.queryKey, saved)
      await queries.invalidateQueries({ queryKey: limitsQuery.queryKey })
      setTyped({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  const field = (name: Name) => ({
    problem: problems[name],
    placeholder: 'no limit',
    value: typed[name] ?? String(organization[name] ?? ''),
    on_change: (text: string) => setTyped(old => ({ ...old, [name]: text })),
  })
  return (
    <ApiForm
      label="Budgets"
      request={save}
      fields={['budget_usd_per_month', 'runs_per_month', 'max_concurrent_runs']}
      forbidden={forbidden}
      changed={Object.keys(typed).length > 0}
      submit="Save"
      variant="primary"
    >
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          label="Cost per month (USD)"
          hint="When it is reached, runs pause and new ones are refused."
          {...field('budget_usd_per_month')}
        />
        <TextField
          label="Runs per month"
          hint="When it is reached, new ones are refused."
          type="number"
          {...field('runs_per_month')}
        />
        <TextField
          label="Runs at the same time"
          hint="Further runs wait in the queue."
          type="number"
          {...field('max_concurrent_runs')}
        />
      </div>
    </ApiForm>
  )
}
