import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/client.ts'
import { meQuery, repositoriesQuery } from '../../../api/queries.ts'
import {
  ApiForm,
  type FieldProps,
  SelectField,
  SwitchField,
  TextField,
} from '../../../components/form/api-form.tsx'
import { ShownOnce } from '../../../components/form/shown-once.tsx'
import { type FormState, useForm } from '../../../components/form/use-form.ts'
import { visible } from '../../../text/visible.ts'
import { CheckList } from '../../../ui/check-list.tsx'
import { memberName, membersQuery } from '../people.ts'
import { emptyDraft, lifetimes, missingIn, requestOf, type TokenDraft } from './token-draft.ts'
import { type Scope, scope_texts, tokensQuery } from './tokens-query.ts'

const scope_options = Object.entries(scope_texts).map(([scope, hint]) => ({
  value: scope as Scope,
  label: <code className="font-mono text-xs">{scope}</code>,
  hint,
}))

/**
 * Creates a token, and shows it once. `user_id`: the service user or member that it acts for, null for the
 * person.
 */
export function CreateToken({ user_id, on_done }: { user_id: number | null; on_done: () => void }) {
  const form = useForm({
    saved: emptyDraft(user_id),
    send: draft => call('createToken', { body: requestOf(draft) }),
    wire: { lifetime: ['expires_at', 'expires_in_seconds'] },
    refresh: [tokensQuery],
  })
  const created = form.request.data
  if (created) {
    return (
      <ShownOnce name="token" value={created.token} on_done={on_done}>
        Copy the token now: it is not shown again.
      </ShownOnce>
    )
  }
  return (
    <ApiForm {...form.props} label="Create token" missing={missingIn(form.draft)} submit="Create token">
      <TextField {...form.field('name')} label="Name" hint="What it is for." placeholder="nightly build" />
      <div className="grid gap-4 sm:grid-cols-2">
        <UserField {...form.field('user_id')} />
        <ExpiryFields {...form} />
      </div>
      <ReachFields {...form} />
      <SelectField
        {...form.field('wire_profile')}
        label="Format of responses"
        hint="The format of Codegen is for programs that were written for its API."
        options={[
          ['standard', 'Standard'],
          ['codegen', 'Codegen'],
        ]}
      />
    </ApiForm>
  )
}

/** Only an ADMIN creates tokens for others. */
function UserField(field: Omit<FieldProps<number | null>, 'label'>) {
  const me = useQuery(meQuery).data
  const may_choose = me?.role === 'ADMIN'
  const members = useQuery({ ...membersQuery, enabled: may_choose }).data ?? []
  // Other pages may have loaded the members before.
  const others = (may_choose ? members : []).filter(member => member.user_id !== me?.id)
  const options = others.map((member): [number, string] => [
    member.user_id,
    `${memberName(member)}${member.kind === 'service' ? ' (service user)' : ''}`,
  ])
  return <SelectField {...field} label="Acts for" options={[[null, 'You'], ...options]} />
}

const ExpiryFields = ({ draft, field }: FormState<TokenDraft>) => (
  <div className="flex gap-2">
    <div className="min-w-0 flex-1">
      <SelectField {...field('lifetime')} label="Expires" options={lifetimes} />
    </div>
    {draft.lifetime === 'date' && (
      <div className="min-w-0 flex-1">
        <TextField {...field('last_day')} label="Last day" type="date" />
      </div>
    )}
  </div>
)

function ReachFields({ set, field }: FormState<TokenDraft>) {
  const repositories = useQuery(repositoriesQuery).data ?? []
  const { value: scopes, ...of_scopes } = field('scopes')
  const { value: repository_ids, ...of_repositories } = field('repository_ids')
  return (
    <div className="space-y-3">
      <SwitchField
        label="Only some scopes, instead of all that the role permits"
        problem={scopes === null ? of_scopes.problem : undefined}
        value={scopes !== null}
        on_change={some => set({ scopes: some ? [] : null })}
      />
      {scopes !== null && (
        <CheckList {...of_scopes} legend="Scopes" options={scope_options} chosen={scopes} />
      )}
      <div>
        <SwitchField
          label="Only some repositories"
          value={repository_ids !== null}
          on_change={some => set({ repository_ids: some ? [] : null })}
        />
      </div>
      {repository_ids !== null && (
        <CheckList
          {...of_repositories}
          legend="Repositories"
          options={repositories.map(({ id, full_name }) => ({ value: id, label: visible(full_name) }))}
          chosen={repository_ids}
          hint={repositories.length === 0 ? 'The organization has no repositories.' : undefined}
        />
      )}
    </div>
  )
}
