import { call } from '../../api/client.ts'
import { type Repository, repositoriesQuery, repositoryQuery } from '../../api/queries.ts'
import { ApiForm, SwitchField, TextField } from '../../components/form/api-form.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { PageTitle } from '../../components/page.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { BranchPrefixField } from '../../components/runs/fields/branch-prefix-field.tsx'
import { EffortField } from '../../components/runs/fields/effort-field.tsx'
import { ReviewField } from '../../components/runs/fields/review-field.tsx'
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
  const forbidden = useRepositoryReason()
  const { field, changed, props } = useForm({
    saved: draftOf(repository),
    send: (_draft, { description, default_branch, branch_prefix, ...rest }) =>
      call('updateRepository', {
        params: { repo_id: repository.id },
        body: {
          ...rest,
          ...(description === undefined ? {} : { description: description.trim() || null }),
          ...(default_branch === undefined ? {} : { default_branch: default_branch.trim() || null }),
          ...(branch_prefix === undefined ? {} : { branch_prefix: branch_prefix.trim() || null }),
        },
      }),
    stored: repositoryQuery(repository.id),
    refresh: [repositoriesQuery],
    done: 'Saved',
  })
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
      <PageTitle>{repository.full_name}</PageTitle>
      <ApiForm {...props} label="General" forbidden={forbidden} changed={changed} submit="Save">
        <TextField {...field('name')} label="Name" />
        <TextField {...field('description')} label="Description" />
        <TextField
          {...field('default_branch')}
          label="Base branch"
          hint="The branch from which a run starts if it names no other. Empty: the default branch of the repository."
          mono
        />
        <BranchPrefixField {...field('branch_prefix')} otherwise="as set for the organization" />
        <EffortField {...field('reasoning_effort')} />
        <ReviewField {...field('review')} />
        <div className="flex flex-col items-start gap-2">
          <SwitchField {...field('is_default')} label="Default repository, for runs without a repository" />
          <SwitchField {...field('archived')} label="Archived: accepts no new runs" />
        </div>
      </ApiForm>
      <RulesFiles repo_id={repository.id} />
    </div>
  )
}
