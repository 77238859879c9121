import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { meQuery, repositoriesQuery } from '../../../api/queries.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ShownOnce } from '../../../components/form/shown-once.tsx'
import { visible } from '../../../text/visible.ts'
import { CheckList } from '../../../ui/check-list.tsx'
import { Field, Input, Select, Switch } from '../../../ui/field.tsx'
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
  const queries = useQueryClient()
  const [draft, setDraft] = useState<TokenDraft>(() => emptyDraft(user_id))
  const set = (change: Partial<TokenDraft>) => setDraft(old => ({ ...old, ...change }))
  const create = useMutation({
    mutationFn: () => call('createToken', { body: requestOf(draft) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  })
  const problems = fieldMessages(create.error)
  if (create.data) {
    return (
      <ShownOnce name="token" value={create.data.token} on_done={on_done}>
        Copy the token now: it is not shown again.
      </ShownOnce>
    )
  }
  return (
    <ApiForm
      label="Create token"
      request={create}
      fields={[
        'name',
        'user_id',
        'expires_at',
        'expires_in_seconds',
        'scopes',
        'repository_ids',
        'wire_profile',
      ]}
      missing={missingIn(draft)}
      submit="Create token"
      variant="primary"
    >
      <TextField
        label="Name"
        hint="What it is for."
        placeholder="nightly build"
        problem={problems.name}
        value={draft.name}
        on_change={name => set({ name })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <UserField draft={draft} set={set} problem={problems.user_id} />
        <ExpiryFields draft={draft} set={set} problem={problems.expires_at ?? problems.expires_in_seconds} />
      </div>
      <ReachFields draft={draft} set={set} problems={problems} />
      <Field
        label="Format of responses"
        hint="The format of Codegen is for programs that were written for its API."
        problem={problems.wire_profile}
      >
        {props => (
          <Select
            {...props}
            value={draft.wire_profile}
            onChange={event =>
              set({ wire_profile: event.target.value === 'codegen' ? 'codegen' : 'standard' })
            }
          >
            <option value="standard">Standard</option>
            <option value="codegen">Codegen</option>
          </Select>
        )}
      </Field>
    </ApiForm>
  )
}

type Part = { draft: TokenDraft; set: (change: Partial<TokenDraft>) => void; problem: string | undefined }

/** Only an ADMIN creates tokens for others. */
function UserField({ draft, set, problem }: Part) {
  const me = useQuery(meQuery).data
  const may_choose = me?.role === 'ADMIN'
  const members = useQuery({ ...membersQuery, enabled: may_choose }).data ?? []
  // Other pages may have loaded the members before.
  const others = (may_choose ? members : []).filter(member => member.user_id !== me?.id)
  return (
    <Field label="Acts for" problem={problem}>
      {props => (
        <Select
          {...props}
          value={draft.user_id ?? ''}
          onChange={event => set({ user_id: event.target.value === '' ? null : Number(event.target.value) })}
        >
          <option value="">You</option>
          {others.map(member => (
            <option key={member.user_id} value={member.user_id}>
              {memberName(member)}
              {member.kind === 'service' && ' (service user)'}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

const ExpiryFields = ({ draft, set, problem }: Part) => (
  <div className="flex gap-2">
    <div className="min-w-0 flex-1">
      <Field label="Expires" problem={problem}>
        {props => (
          <Select {...props} value={draft.lifetime} onChange={event => set({ lifetime: event.target.value })}>
            {lifetimes.map(({ value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
    {draft.lifetime === 'date' && (
      <div className="min-w-0 flex-1">
        <Field label="Last day">
          {props => (
            <Input
              {...props}
              type="date"
              value={draft.last_day}
              onChange={event => set({ last_day: event.target.value })}
            />
          )}
        </Field>
      </div>
    )}
  </div>
)

function ReachFields({ draft, set, problems }: Omit<Part, 'problem'> & { problems: Record<string, string> }) {
  const repositories = useQuery(repositoriesQuery).data ?? []
  return (
    <div className="space-y-3">
      <Switch
        label="Only some scopes, instead of all that the role permits"
        checked={draft.scopes !== null}
        onChange={event => set({ scopes: event.target.checked ? [] : null })}
      />
      {draft.scopes !== null ? (
        <CheckList
          legend="Scopes"
          options={scope_options}
          chosen={draft.scopes}
          on_change={scopes => set({ scopes })}
          problem={problems.scopes}
        />
      ) : (
        problems.scopes && <p className="text-bad text-xs">{problems.scopes}</p>
      )}
      <div>
        <Switch
          label="Only some repositories"
          checked={draft.repository_ids !== null}
          onChange={event => set({ repository_ids: event.target.checked ? [] : null })}
        />
      </div>
      {draft.repository_ids !== null && (
        <CheckList
          legend="Repositories"
          options={repositories.map(({ id, full_name }) => ({ value: id, label: visible(full_name) }))}
          chosen={draft.repository_ids}
          on_change={repository_ids => set({ repository_ids })}
          problem={problems.repository_ids}
          hint={repositories.length === 0 ? 'The organization has no repositories.' : undefined}
        />
      )}
    </div>
  )
}
