import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm } from '../../../components/form/api-form.tsx'
import { visible } from '../../../text/visible.ts'
import { Field, TextArea } from '../../../ui/field.tsx'
import { Loading, Notice } from '../../../ui/notice.tsx'
import { notify } from '../../../ui/toast.ts'
import { nameIn } from './skill-text.ts'
import { skillQuery, skillsQuery } from './skills-query.ts'

type Common = { forbidden: string | null; on_done: () => void }

/** The text of a skill in its form. */
export function SkillText({ name, ...common }: Common & { name: string }) {
  const skill = useQuery(skillQuery(name))
  if (skill.error) return <Notice tone="bad">{visible(skill.error.message)}</Notice>
  if (!skill.data || skill.isFetching) return <Loading label="Loading the skill" />
  return <SkillForm {...common} name={name} content={skill.data.content} taken={[]} />
}

/** `name` null: the form adds a skill with the name in its front matter, which is none of `taken`. */
type FormProps = Common & { name: string | null; content: string; taken: string[] }

/** Sets a skill. */
export function SkillForm({ name, content, taken, forbidden, on_done }: FormProps) {
  const queries = useQueryClient()
  const [text, setText] = useState(content)
  const named = name ?? nameIn(text)
  const save = useMutation({
    mutationFn: () => call('setSkill', { params: { skill: named ?? '' }, body: { content: text } }),
    onSuccess: async saved => {
      await queries.invalidateQueries({ queryKey: skillsQuery.queryKey })
      notify(`${saved.name} was saved`)
      on_done()
    },
  })
  const problems = fieldMessages(save.error)
  const missing = () => {
    if (named === null) return 'Enter a name in the front matter first'
    if (taken.includes(named)) return 'There is a skill of this name: edit that one'
    return null
  }
  return (
    <ApiForm
      label="Skill"
      request={save}
      fields={['content', 'path.skill']}
      forbidden={forbidden}
      changed={text !== content}
      missing={missing()}
      submit="Save skill"
      variant="primary"
    >
      <Field
        label="SKILL.md"
        hint="Between the lines ---, name: lower-case letters, digits and hyphens; description: when agents use it. Below, their instructions."
        problem={problems.content ?? problems['path.skill']}
      >
        {props => (
          <TextArea
            {...props}
            rows={16}
            spellCheck={false}
            className="font-mono text-xs"
            value={text}
            onChange={event => setText(event.target.value)}
          />
        )}
      </Field>
    </ApiForm>
  )
}
