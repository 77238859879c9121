import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Body, Result } from '../../../../src/contract/calls.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useProfileReason } from '../../components/permission.ts'
import { Field, TextArea } from '../../ui/field.tsx'
import { Loading } from '../../ui/notice.tsx'
import { notify } from '../../ui/toast.ts'

type Me = Result<'getMe'>

/** The profile of the person who is signed in, in all of their organizations. */
export function ProfilePage() {
  const me = useQuery(meQuery)
  if (me.isError) return <PageProblem error={me.error} retry={() => me.refetch()} what="profile" />
  return (
    <Page
      heading="Profile"
      width="narrow"
      about="Your name and your instructions for agents, in all of your organizations."
    >
      {me.data ? <ProfileForm me={me.data} /> : <Loading />}
    </Page>
  )
}

function ProfileForm({ me }: { me: Me }) {
  const queries = useQueryClient()
  const forbidden = useProfileReason()
  const [touched, setTouched] = useState<Body<'updateMe'>>({})
  const now = { ...me, ...touched }
  const set = (change: Body<'updateMe'>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => call('updateMe', { body: touched }),
    onSuccess: saved => {
      queries.setQueryData(meQuery.queryKey, saved)
      setTouched({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  return (
    <ApiForm
      label="Profile"
      request={save}
      fields={['full_name', 'github_username', 'custom_prompt']}
      forbidden={forbidden}
      changed={Object.keys(touched).length > 0}
      submit="Save"
      variant="primary"
    >
      <TextField
        label="Name"
        problem={problems.full_name}
        value={now.full_name ?? ''}
        on_change={text => set({ full_name: text.trim() === '' ? null : text })}
      />
      <TextField
        label="GitHub username"
        hint="Shown to others. It proves nothing and grants nothing."
        problem={problems.github_username}
        value={now.github_username ?? ''}
        on_change={text => set({ github_username: text.trim() === '' ? null : text.trim() })}
      />
      <Field
        label="Instructions for agents"
        hint="Added to the instructions of your runs, for example “Answer in French”. Save them again after you have joined another organization."
        problem={problems.custom_prompt}
      >
        {props => (
          <TextArea
            {...props}
            rows={6}
            value={now.custom_prompt ?? ''}
            onChange={event => set({ custom_prompt: event.target.value })}
          />
        )}
      </Field>
    </ApiForm>
  )
}
