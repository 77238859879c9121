import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { BookOpen, Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../api/client.ts'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { useAdminReason } from '../../../components/permission.ts'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Blank, Loading } from '../../../ui/notice.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { notify } from '../../../ui/toast.ts'
import { SkillForm, SkillText } from './skill-form.tsx'
import { template } from './skill-text.ts'
import { type Skill, skillsQuery } from './skills-query.ts'

type Act = { kind: 'add' } | { kind: 'open' | 'delete'; skill: Skill }

/** The skills of the organization, which the agents of all runs can read. */
export function SkillsPage() {
  const skills = useQuery(skillsQuery)
  const forbidden = useAdminReason('skills')
  const [act, setAct] = useState<Act | null>(null)
  const close = () => setAct(null)
  if (skills.isError) return <PageProblem error={skills.error} retry={() => skills.refetch()} what="list" />
  const actions: Column<Skill> = {
    name: '',
    cell: skill => (
      <span className="flex justify-end gap-1">
        <Button
          variant="quiet"
          aria-label={`${forbidden === null ? 'Edit' : 'View'} ${skill.name}`}
          onClick={() => setAct({ kind: 'open', skill })}
        >
          {forbidden === null ? 'Edit' : 'View'}
        </Button>
        <Button
          variant="quiet"
          reason={forbidden}
          aria-label={`Delete ${skill.name}`}
          onClick={() => setAct({ kind: 'delete', skill })}
        >
          Delete
        </Button>
      </span>
    ),
  }
  const { data } = skills
  return (
    <Page
      heading="Skills"
      note={data?.length}
      about="Instructions for a kind of task, each a SKILL.md. Agents of all runs see the name and the description, and read the text when it fits their task. A skill of the repository with the same name replaces it."
      actions={
        <Button variant="primary" reason={forbidden} onClick={() => setAct({ kind: 'add' })}>
          <Plus aria-hidden className="size-4" /> Add skill
        </Button>
      }
    >
      {!data && <Loading label="Loading the skills" />}
      {data?.length === 0 && (
        <Blank icon={<BookOpen />} title="No skills yet">
          Describe here how your organization publishes a version, writes a migration or reviews a change.
        </Blank>
      )}
      {data && data.length > 0 && (
        <Table label="Skills" columns={[...columns, actions]} rows={data} row_key={({ name }) => name} />
      )}
      <Dialog title="Add skill" open={act?.kind === 'add'} on_close={close}>
        <SkillForm
          name={null}
          content={template}
          taken={data?.map(({ name }) => name) ?? []}
          forbidden={forbidden}
          on_done={close}
        />
      </Dialog>
      <Dialog title={act?.kind === 'open' ? act.skill.name : ''} open={act?.kind === 'open'} on_close={close}>
        {act?.kind === 'open' && <SkillText name={act.skill.name} forbidden={forbidden} on_done={close} />}
      </Dialog>
      {act?.kind === 'delete' && <Deletion skill={act.skill} on_close={close} />}
    </Page>
  )
}

const columns: Column<Skill>[] = [
  {
    name: 'Skill',
    main: true,
    cell: ({ name, description }) => (
      <>
        <code className="font-mono text-xs">{visible(name)}</code>
        <span className="block text-muted [overflow-wrap:anywhere]">{visible(description)}</span>
      </>
    ),
  },
  {
    name: 'Set',
    wide_only: true,
    cell: ({ updated_at }) => (
      <time dateTime={updated_at} className="text-muted">
        {moment(updated_at)}
      </time>
    ),
  },
]

function Deletion({ skill: { name }, on_close }: { skill: Skill; on_close: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => call('deleteSkill', { params: { skill: name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: skillsQuery.queryKey })
      notify(`${name} was deleted`)
      on_close()
    },
  })
  return (
    <ConfirmDialog title={`Delete ${name}`} action="Delete skill" request={remove} open on_close={on_close}>
      Agents no longer see it from their next turn on. Its text cannot be restored.
    </ConfirmDialog>
  )
}
