import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { ApiForm, TextAreaField, TextField } from '../../components/form/api-form.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { useProfileReason } from '../../components/permission.ts'
import { QueryPage } from '../../components/resource-page.tsx'

/** The profile of the person who is signed in, in all of their organizations. */
export const ProfilePage = () => (
  <QueryPage
    query={meQuery}
    what="profile"
    heading="Profile"
    width="narrow"
    about="Your name and your instructions for agents, in all of your organizations."
  >
    {me => <ProfileForm me={me} />}
  </QueryPage>
)

function ProfileForm({ me: { full_name, github_username, custom_prompt } }: { me: Result<'getMe'> }) {
  const { field, changed, props } = useForm({
    saved: {
      full_name: full_name ?? '',
      github_username: github_username ?? '',
      custom_prompt: custom_prompt ?? '',
    },
    send: (_draft, { full_name: name, github_username: username, custom_prompt }) =>
      call('updateMe', {
        body: {
          custom_prompt,
          ...(name === undefined ? {} : { full_name: name.trim() === '' ? null : name }),
          ...(username === undefined ? {} : { github_username: username.trim() || null }),
        },
      }),
    stored: meQuery,
    done: 'Saved',
  })
  return (
    <ApiForm {...props} label="Profile" forbidden={useProfileReason()} changed={changed} submit="Save">
      <TextField {...field('full_name')} label="Name" />
      <TextField
        {...field('github_username')}
        label="GitHub username"
        hint="Shown to others. It proves nothing and grants nothing."
      />
      <TextAreaField
        {...field('custom_prompt')}
        label="Instructions for agents"
        hint="Added to the instructions of your runs, for example “Answer in French”. Save them again after you have joined another organization."
        rows={6}
      />
    </ApiForm>
  )
}
