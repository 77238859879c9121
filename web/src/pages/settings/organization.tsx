import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { organizationsQuery, repositoriesQuery } from '../../api/queries.ts'
import {
  ApiForm,
  SelectField,
  SwitchField,
  TextAreaField,
  TextField,
} from '../../components/form/api-form.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { useAdminReason } from '../../components/permission.ts'
import { QueryPage } from '../../components/resource-page.tsx'
import { AgentPermissionsField } from '../../components/runs/fields/agent-permissions-field.tsx'
import { BranchPrefixField } from '../../components/runs/fields/branch-prefix-field.tsx'
import { EffortField } from '../../components/runs/fields/effort-field.tsx'
import { ModelField } from '../../components/runs/fields/model-field.tsx'
import { ReviewField } from '../../components/runs/fields/review-field.tsx'
import { type Organization, organizationQuery } from './organization-query.ts'

/** Name of the organization, and the defaults of its runs. */
export const OrganizationSettings = () => (
  <QueryPage
    query={organizationQuery}
    what="organization"
    heading="General"
    title="Settings"
    width="narrow"
    about="The name of the organization, and the defaults of its runs."
  >
    {organization => <OrganizationForm organization={organization} />}
  </QueryPage>
)

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
  const forbidden = useAdminReason('settings')
  const repositories = useQuery(repositoriesQuery).data ?? []
  // Without a choice, runs that name no repository use the only one that there is.
  const only = organization.default_repo_id === null && repositories.find(({ is_default }) => is_default)
  const { field, changed, props } = useForm({
    saved: draftOf(organization),
    send: (_draft, touched) => call('updateOrganization', { body: changesOf(touched) }),
    stored: organizationQuery,
    refresh: [organizationsQuery],
    done: 'Saved',
  })
  return (
    <ApiForm {...props} label="Organization" forbidden={forbidden} changed={changed} submit="Save">
      <TextField {...field('name')} label="Name" />
      <SelectField
        {...field('default_repo_id')}
        label="Default repository"
        hint="For runs without a repository."
        options={[
          [null, only ? `None: ${only.full_name} is used, the only one` : 'None'],
          ...repositories.map(({ id, full_name }) => [id, full_name] as const),
        ]}
      />
      <ModelField
        {...field('default_model')}
        label="Default model"
        default_label="The default of the service"
      />
      <EffortField {...field('reasoning_effort')} />
      <ReviewField {...field('review')} />
      <AgentPermissionsField {...field('agent_permissions')} />
      <BranchPrefixField {...field('branch_prefix')} otherwise="agent/" />
      <TextAreaField
        {...field('approval_paths')}
        label="Files whose change needs an approval"
        hint="One glob per line, such as infra/ or *.sql. The service has a list of files that CI, deployments, bots, editors and agents run, such as .github/workflows/. A list is never complete: add the files of your own."
        rows={3}
      />
      <TextAreaField
        {...field('rules')}
        label="Rules"
        hint="Instructions for the agent of every run."
        rows={6}
      />
      <div className="flex flex-col items-start gap-2">
        <SwitchField {...field('enable_pr_creation')} label="Runs open a pull request with their change" />
        <SwitchField
          {...field('enable_rules_detection')}
          label="Runs read rules for agents, such as AGENTS.md, from the repository"
        />
      </div>
    </ApiForm>
  )
}
