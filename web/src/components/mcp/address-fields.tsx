import { Field, Select } from '../../ui/field.tsx'
import { TextField } from '../form/api-form.tsx'
import { type DraftFields, Lines } from './lines-field.tsx'
import type { ServerDraft } from './server-draft.ts'

/** Where a server is reached, and with which credential. */
export function AddressFields({
  draft,
  set,
  problems,
  has_credential,
}: DraftFields & { has_credential: boolean }) {
  return (
    <>
      <TextField
        label="Address"
        placeholder="https://mcp.example.com/mcp"
        mono
        problem={problems.url}
        value={draft.url}
        on_change={url => set({ url })}
      />
      <Lines
        label="Headers"
        hint="Name: value, one in each line. They are not secret."
        problem={problems.headers}
        value={draft.headers}
        on_change={headers => set({ headers })}
      />
      <Field label="Credential" hint="It is added outside of the sandbox, where no agent sees it.">
        {props => (
          <Select
            {...props}
            value={draft.sent}
            onChange={event => set({ sent: event.target.value as ServerDraft['sent'] })}
          >
            {Object.entries(ways).map(([way, label]) => (
              <option key={way} value={way}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.sent === 'header' && (
        <TextField
          label="Header"
          placeholder="X-Api-Key"
          mono
          problem={problems.credential_header}
          value={draft.credential_header}
          on_change={credential_header => set({ credential_header })}
        />
      )}
      {draft.sent === 'oauth' && <ClientFields field="oauth" draft={draft} set={set} problems={problems} />}
      {draft.sent === 'sign_in' && (
        <ClientFields field="sign_in" draft={draft} set={set} problems={problems} />
      )}
      {hasSecret(draft) && (
        <TextField
          label={
            draft.sent === 'oauth' || draft.sent === 'sign_in'
              ? 'Client secret'
              : draft.sent === 'header'
                ? 'Value'
                : 'Token'
          }
          hint={has_credential ? 'Empty: unchanged.' : 'It is never shown again.'}
          type="password"
          mono
          problem={problems.credential}
          value={draft.credential}
          on_change={credential => set({ credential })}
        />
      )}
    </>
  )
}

const ways: Record<ServerDraft['sent'], string> = {
  none: 'None',
  bearer: 'Bearer token',
  header: 'A header of its own',
  oauth: 'OAuth client credentials',
  sign_in: 'Sign in (a person, in a browser)',
}

/** Most servers register the service by themselves, as a client without a secret. */
const hasSecret = ({ sent, client_id }: ServerDraft) =>
  sent !== 'none' && (sent !== 'sign_in' || client_id.trim() !== '')

const hints = {
  oauth: {
    client_id: undefined,
    issuer:
      'The authorization server, the only one that receives the secret. The network rules must allow it too.',
  },
  sign_in: {
    client_id: 'Empty: the service registers itself, which most servers accept.',
    issuer: 'The only authorization server that is accepted. Empty: the one that the server names.',
  },
}

const ClientFields = ({ field, draft, set, problems }: DraftFields & { field: 'oauth' | 'sign_in' }) => (
  <>
    <TextField
      label="Client ID"
      hint={hints[field].client_id}
      mono
      problem={problems[`${field}.client_id`]}
      value={draft.client_id}
      on_change={client_id => set({ client_id })}
    />
    <TextField
      label="Issuer"
      hint={hints[field].issuer}
      placeholder="https://auth.example.com"
      mono
      problem={problems[`${field}.issuer`]}
      value={draft.issuer}
      on_change={issuer => set({ issuer })}
    />
    <TextField
      label="Scopes"
      hint="Separated by blanks. Empty: those that the server names."
      mono
      problem={problems[`${field}.scope`]}
      value={draft.scope}
      on_change={scope => set({ scope })}
    />
  </>
)
