import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useAdminReason } from '../../../components/permission.ts'
import { type Organization, organizationQuery } from '../organization-query.ts'
import { limitsQuery } from './limits-query.ts'

type Draft = Record<'budget_usd_per_month' | 'runs_per_month' | 'max_concurrent_runs', string>

/** The request for what was typed: an empty field is no limit. */
const bodyOf = (typed: Partial<Draft>) => {
  const { budget_usd_per_month: usd, runs_per_month: runs, max_concurrent_runs: active } = typed
  return {
    ...(usd === undefined ? {} : { budget_usd_per_month: usd.trim() || null }),
    ...(runs === undefined ? {} : { runs_per_month: runs.trim() === '' ? null : Number(runs) }),
    ...(active === undefined ? {} : { max_concurrent_runs: active.trim() === '' ? null : Number(active) }),
  }
}

export function Budgets({ organization }: { organization: Organization }) {
  const { field, changed, props } = useForm<Draft, Organization>({
    saved: {
      budget_usd_per_month: organization.budget_usd_per_month ?? '',
      runs_per_month: String(organization.runs_per_month ?? ''),
      max_concurrent_runs: String(organization.max_concurrent_runs ?? ''),
    },
    send: (_draft, touched) => call('updateOrganization', { body: bodyOf(touched) }),
    stored: organizationQuery,
    refresh: [limitsQuery],
    done: 'Saved',
  })
  return (
    <ApiForm {...props} label="Budgets" forbidden={useAdminReason('budgets')} changed={changed} submit="Save">
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          {...field('budget_usd_per_month')}
          label="Cost per month (USD)"
          hint="When it is reached, runs pause and new ones are refused."
          placeholder="no limit"
        />
        <TextField
          {...field('runs_per_month')}
          label="Runs per month"
          hint="When it is reached, new ones are refused."
          placeholder="no limit"
          type="number"
        />
        <TextField
          {...field('max_concurrent_runs')}
          label="Runs at the same time"
          hint="Further runs wait in the queue."
          placeholder="no limit"
          type="number"
        />
      </div>
    </ApiForm>
  )
}
