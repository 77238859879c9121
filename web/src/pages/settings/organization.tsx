import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { organizationsQuery, repositoriesQuery } from '../../api/queries.ts'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useAdminReason } from '../../components/permission.ts'
import { AgentPermissionsField } from '../../components/runs/fields/agent-permissions-field.tsx'
import { BranchPrefixField } from '../../components/runs/fields/branch-prefix-field.tsx'
import { EffortField } from '../../components/runs/fields/effort-field.tsx'
import { ModelField } from '../../components/runs/fields/model-field.tsx'
import { ReviewField } from '../../components/runs/fields/review-field.tsx'
import { visible } from '../../text/visible.ts'
import { Field, Select, Switch, TextArea } from '../../ui/field.tsx'
import { Loading } from '../../ui/notice.tsx'
import { notify } from '../../ui/toast.ts'
import { type Organization, organizationQuery } from './organization-query.ts'

/** Name of the organization, and the defaults of its runs. */
export function OrganizationSettings() {
  const organization = useQuery(organizationQuery)
  if (organization.isError)
    return <PageProblem error={organization.error} retry={() => organization.refetch()} what="organization" />
  return (
    <Page
      heading="General"
      title="Settings"
      width="narrow"
      about="The name of the organization, and the defaults of its runs."
    >
      {organization.data ? <OrganizationForm organization={organization.data} /> : <Loading />}
    </Page>
  )
}

type Draft = Pick<
  Organization,
  'name' | 'default_repo_id' | 'reasoning_effort' | 'review' | 'agent_permissions'
> & {
  default_model: string
  branch_prefix: string
  approval_paths: string
  rules: string
  enable_pr_creation: boolean
  enable_rules_detection: boolean
}

const draftOf = ({
  name,
  default_repo_id,
  reasoning_effort,
  review,
  agent_permissions,
  default_model,
  branch_prefix,
  approval_paths,
  rules,
  settings,
}: Organization): Draft => ({
  name,
  default_repo_id,
  reasoning_effort,
  review,
  agent_permissions,
  ...settings,
  default_model: default_model ?? '',
  branch_prefix: branch_prefix ?? '',
  approval_paths: (approval_paths ?? []).join('\n'),
  rules: rules ?? '',
})

/** The request for what was changed. */
function changesOf(change: Partial<Draft>) {
  const {
    enable_pr_creation,
    enable_rules_detection,
    default_model,
    branch_prefix,
    approval_paths,
    rules,
    ...rest
  } = change
  const switched = enable_pr_creation !== undefined || enable_rules_detection !== undefined
  return {
    ...rest,
    ...(default_model === undefined ? {} : { default_model: default_model || null }),
    ...(branch_prefix === undefined ? {} : { branch_prefix: branch_prefix.trim() || null }),
    ...(approval_paths === undefined ? {} : { approval_paths: linesOf(approval_paths) }),
    ...(rules === undefined ? {} : { rules: rules.trim() || null }),
    ...(switched ? { settings: { enable_pr_creation, enable_rules_detection } } : {}),
  }
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')

function OrganizationForm({ organization }: { organization: Organization }) {
  const queries = useQueryClient()
  const forbidden = useAdminReason('settings')
  const repositories = useQuery(repositoriesQuery).data ?? []
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const now = { ...draftOf(organization), ...touched }
  // Without a choice, runs that name no repository use the only one that there is.
  const only = organization.default_repo_id === null && repositories.find(({ is_default }) => is_default)
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => call('updateOrganization', { body: changesOf(touched) }),
    onSuccess: async saved => {
      queries.setQueryData(organizationQuery.queryKey, saved)
      await queries.invalidateQueries({ queryKey: organizationsQuery.queryKey })
      setTouched({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  return (
    <ApiForm
      label="Organization"
      request={save}
      fields={[
        'name',
        'default_repo_id',
        'default_model',
        'reasoning_effort',
        'review',
        'agent_permissions',
        'branch_prefix',
        'approval_paths',
        'rules',
      ]}
      forbidden={forbidden}
      changed={Object.keys(touched).length > 0}
      submit="Save"
      variant="primary"
    >
      <TextField label="Name" problem={problems.name} value={now.name} on_change={name => set({ name })} />
      <Field
        label="Default repository"
        hint="For runs without a repository."
        problem={problems.default_repo_id}
      >
        {props => (
          <Select
            {...props}
            value={now.default_repo_id ?? ''}
            onChange={event =>
              set({ default_repo_id: event.target.value === '' ? null : Number(event.target.value) })
            }
          >
            <option value="">
              {only ? `None: ${visible(only.full_name)} is used, the only one` : 'None'}
            </option>
            {repositories.map(({ id, full_name }) => (
              <option key={id} value={id}>
                {visible(full_name)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ModelField
        label="Default model"
        value={now.default_model}
        on_change={default_model => set({ default_model })}
        problem={problems.default_model}
        default_label="The default of the service"
      />
      <EffortField
        value={now.reasoning_effort}
        on_change={reasoning_effort => set({ reasoning_effort })}
        problem={problems.reasoning_effort}
      />
      <ReviewField value={now.review} on_change={review => set({ review })} problem={problems.review} />
      <AgentPermissionsField
        value={now.agent_permissions}
        on_change={agent_permissions => set({ agent_permissions })}
        problem={problems.agent_permissions}
      />
      <BranchPrefixField
        value={now.branch_prefix}
        on_change={branch_prefix => set({ branch_prefix })}
        problem={problems.branch_prefix}
        otherwise="agent/"
      />
      <Field
        label="Files whose change needs an approval"
        hint="One glob per line, such as infra/ or *.sql. The service has a list of files that CI, deployments, bots, editors and agents run, such as .github/workflows/. A list is never complete: add the files of your own."
        problem={problems.approval_paths}
      >
        {props => (
          <TextArea
            {...props}
            rows={3}
            value={now.approval_paths}
            onChange={event => set({ approval_paths: event.target.value })}
          />
        )}
      </Field>
      <Field label="Rules" hint="Instructions for the agent of every run." problem={problems.rules}>
        {props => (
          <TextArea
            {...props}
            rows={6}
            value={now.rules}
            onChange={event => set({ rules: event.target.value })}
          />
        )}
      </Field>
      <div className="flex flex-col items-start gap-2">
        <Switch
          label="Runs open a pull request with their change"
          checked={now.enable_pr_creation}
          onChange={event => set({ enable_pr_creation: event.target.checked })}
        />
        <Switch
          label="Runs read rules for agents, such as AGENTS.md, from the repository"
          checked={now.enable_rules_detection}
          onChange={event => set({ enable_rules_detection: event.target.checked })}
        />
      </div>
    </ApiForm>
  )
}
