import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { AnalysisDialog } from '../../components/analysis-dialog.tsx'
import { visible } from '../../text/visible.ts'
import { Field, Select } from '../../ui/field.tsx'

const DAY_MS = 86_400_000
const periods = { 1: 'The last day', 7: 'The last 7 days', 30: 'The last 30 days' } as const

/** Analyzes the logs of many runs: of the organization, or of one repository, in a period. */
export function AnalyzeManyLogs({ open, on_close }: { open: boolean; on_close: () => void }) {
  const { repo } = useSearch({ from: '/app/sandboxes/' })
  const repositories = useQuery(repositoriesQuery).data ?? []
  const [chosen, setChosen] = useState<number | null>()
  const [days, setDays] = useState(1)
  // The filter of the list, until another choice is made.
  const repo_id = chosen === undefined ? (repo ?? null) : chosen
  return (
    <AnalysisDialog
      title="Analyze logs"
      about="The analysis searches the logs of several runs for causes of failures. A failure of many runs is listed once."
      analyze={() =>
        call('analyzeLogs', { body: { repo_id, from: new Date(Date.now() - days * DAY_MS).toISOString() } })
      }
      open={open}
      on_close={on_close}
    >
      <Field label="Repository">
        {props => (
          <Select
            {...props}
            value={repo_id ?? ''}
            onChange={event => setChosen(event.target.value === '' ? null : Number(event.target.value))}
          >
            <option value="">All repositories</option>
            {repositories.map(({ id, full_name }) => (
              <option key={id} value={id}>
                {visible(full_name)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Period">
        {props => (
          <Select {...props} value={days} onChange={event => setDays(Number(event.target.value))}>
            {Object.entries(periods).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </AnalysisDialog>
  )
}
