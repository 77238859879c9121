import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { type Repository, repositoriesQuery, repositoryQuery } from '../../api/queries.ts'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { PageTitle } from '../../components/page.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { BranchPrefixField } from '../../components/runs/fields/branch-prefix-field.tsx'
import { EffortField } from '../../components/runs/fields/effort-field.tsx'
import { ReviewField } from '../../components/runs/fields/review-field.tsx'
import { Switch } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.ts'
import { RulesFiles } from './rules-files.tsx'
import { useRepository } from './use-repository.ts'

type Draft = Pick<Repository, 'reasoning_effort' | 'review' | 'is_default' | 'archived'> & {
  name: string
  description: string
  default_branch: string
  branch_prefix: string
}

const draftOf = (repository: Repository): Draft => ({
  name: repository.name,
  description: repository.description ?? '',
  default_branch: repository.default_branch ?? '',
  branch_prefix: repository.branch_prefix ?? '',
  reasoning_effort: repository.reasoning_effort,
  review: repository.review,
  is_default: repository.is_default,
  archived: repository.archived,
})

/** The first tab: name, description, base branch and defaults of runs. */
export function RepositoryGeneral() {
  const repository = useRepository()
  const queries = useQueryClient()
  const forbidden = useRepositoryReason()
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const now = { ...draftOf(repository), ...touched }
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => {
      const { description, default_branch, branch_prefix, ...rest } = touched
      return call('updateRepository', {
        params: { repo_id: repository.id },
        body: {
          ...rest,
          ...(description === undefined ? {} : { description: description.trim() || null }),
          ...(default_branch === undefined ? {} : { default_branch: default_branch.trim() || null }),
          ...(branch_prefix === undefined ? {} : { branch_prefix: branch_prefix.trim() || null }),
        },
      })
    },
    onSuccess: async saved => {
      queries.setQueryData(repositoryQuery(repository.id).queryKey, saved)
      await queries.invalidateQueries({ queryKey: repositoriesQuery.queryKey })
      setTouched({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
      <PageTitle>{repository.full_name}</PageTitle>
      <ApiForm
        label="General"
        request={save}
        fields={['name', 'description', 'default_branch', 'branch_prefix', 'reasoning_effort', 'review']}
        forbidden={forbidden}
        changed={Object.keys(touched).length > 0}
        submit="Save"
        variant="primary"
      >
        <TextField label="Name" problem={problems.name} value={now.name} on_change={name => set({ name })} />
        <TextField
          label="Description"
          problem={problems.description}
          value={now.description}
          on_change={description => set({ description })}
        />
        <TextField
          label="Base branch"
          hint="The branch from which a run starts if it names no other. Empty: the default branch of the repository."
          problem={problems.default_branch}
          mono
          value={now.default_branch}
          on_change={default_branch => set({ default_branch })}
        />
        <BranchPrefixField
          value={now.branch_prefix}
          on_change={branch_prefix => set({ branch_prefix })}
          problem={problems.branch_prefix}
          otherwise="as set for the organization"
        />
        <EffortField
          value={now.reasoning_effort}
          on_change={reasoning_effort => set({ reasoning_effort })}
          problem={problems.reasoning_effort}
        />
        <ReviewField value={now.review} on_change={review => set({ review })} problem={problems.review} />
        <div className="flex flex-col items-start gap-2">
          <Switch
            label="Default repository, for runs without a repository"
            checked={now.is_default}
            onChange={event => set({ is_default: event.target.checked })}
          />
          <Switch
            label="Archived: accepts no new runs"
            checked={now.archived}
            onChange={event => set({ archived: event.target.checked })}
          />
        </div>
      </ApiForm>
      <RulesFiles repo_id={repository.id} />
    </div>
  )
}
