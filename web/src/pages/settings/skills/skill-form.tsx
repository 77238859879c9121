import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/client.ts'
import { ApiForm, TextAreaField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { visible } from '../../../text/visible.ts'
import { Loading, Notice } from '../../../ui/notice.tsx'
import { nameIn } from './skill-text.ts'
import { skillQuery, skillsQuery } from './skills-query.ts'

type Common = { forbidden: string | null; on_done: () => void }

/** The text of a skill in its form. */
export function SkillText({ name, ...common }: Common & { name: string }) {
  const skill = useQuery(skillQuery(name))
  if (skill.error) return <Notice tone="bad">{visible(skill.error.message)}</Notice>
  if (!skill.data || skill.isFetching) return <Loading label="Loading the skill" />
  return <SkillForm {...common} name={name} content={skill.data.content} />
}

/** `name` null: the form adds a skill with the name in its front matter, which no other skill has. */
type FormProps = Common & { name: string | null; content: string }

/** Sets a skill. */
export function SkillForm({ name, content: saved, forbidden, on_done }: FormProps) {
  const others = useQuery(skillsQuery).data ?? []
  const { draft, field, props } = useForm({
    saved: { content: saved },
    send: ({ content }) =>
      call('setSkill', { params: { skill: name ?? nameIn(content) ?? '' }, body: { content } }),
    wire: { content: ['content', 'path.skill'] },
    refresh: [skillsQuery],
    done: skill => `${skill.name} was saved`,
    on_done,
  })
  const typed_name = nameIn(draft.content)
  const missing = () => {
    if (name !== null) return null
    if (typed_name === null) return 'Enter a name in the front matter first'
    return others.some(skill => skill.name === typed_name)
      ? 'There is a skill of this name: edit that one'
      : null
  }
  return (
    <ApiForm
      {...props}
      label="Skill"
      forbidden={forbidden}
      changed={draft.content !== saved}
      missing={missing()}
      submit="Save skill"
    >
      <TextAreaField
        {...field('content')}
        label="SKILL.md"
        hint="Between the lines ---, name: lower-case letters, digits and hyphens; description: when agents use it. Below, their instructions."
        rows={16}
        code
      />
    </ApiForm>
  )
}
