import { SelectField, TextAreaField, TextField } from '../form/api-form.tsx'
import type { FormState } from '../form/use-form.ts'
import type { ServerDraft } from './server-draft.ts'

type Props = FormState<ServerDraft> & { has_credential: boolean }

/** Where a server is reached, and with which credential. */
export const AddressFields = ({ draft, field, has_credential }: Props) => (
  <>
    <TextField {...field('url')} label="Address" placeholder="https://mcp.example.com/mcp" mono />
    <TextAreaField
      {...field('headers')}
      label="Headers"
      hint="Name: value, one in each line. They are not secret."
      rows={3}
      code
    />
    <SelectField
      {...field('sent')}
      label="Credential"
      hint="It is added outside of the sandbox, where no agent sees it."
      options={[
        ['none', 'None'],
        ['bearer', 'Bearer token'],
        ['header', 'A header of its own'],
        ['oauth', 'OAuth client credentials'],
        ['sign_in', 'Sign in (a person, in a browser)'],
      ]}
    />
    {draft.sent === 'header' && (
      <TextField {...field('credential_header')} label="Header" placeholder="X-Api-Key" mono />
    )}
    {(draft.sent === 'oauth' || draft.sent === 'sign_in') && (
      <>
        <TextField {...field('client_id')} label="Client ID" hint={hints[draft.sent].client_id} mono />
        <TextField
          {...field('issuer')}
          label="Issuer"
          hint={hints[draft.sent].issuer}
          placeholder="https://auth.example.com"
          mono
        />
        <TextField
          {...field('scope')}
          label="Scopes"
          hint="Separated by blanks. Empty: those that the server names."
          mono
        />
      </>
    )}
    {hasSecret(draft) && (
      <TextField
        {...field('credential')}
        label={draft.sent === 'bearer' ? 'Token' : draft.sent === 'header' ? 'Value' : 'Client secret'}
        hint={has_credential ? 'Empty: unchanged.' : 'It is never shown again.'}
        type="password"
        mono
      />
    )}
  </>
)

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
