import { BookOpen } from 'lucide-react'
import { call } from '../../../api/client.ts'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { useAdminReason } from '../../../components/permission.ts'
import { momentColumn, ResourcePage } from '../../../components/resource-page.tsx'
import { visible } from '../../../text/visible.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Blank } from '../../../ui/notice.tsx'
import type { Column } from '../../../ui/table.tsx'
import { SkillForm, SkillText } from './skill-form.tsx'
import { template } from './skill-text.ts'
import { type Skill, skillsQuery } from './skills-query.ts'

/** The skills of the organization, which the agents of all runs can read. */
export function SkillsPage() {
  const forbidden = useAdminReason('skills')
  return (
    <ResourcePage
      what="skills"
      about="Instructions for a kind of task, each a SKILL.md. Agents of all runs see the name and the description, and read the text when it fits their task. A skill of the repository with the same name replaces it."
      query={skillsQuery}
      columns={columns}
      name={({ name }) => name}
      add={{
        text: 'Add skill',
        reason: forbidden,
        dialog: close => (
          <Dialog title="Add skill" on_close={close}>
            <SkillForm name={null} content={template} forbidden={forbidden} on_done={close} />
          </Dialog>
        ),
      }}
      actions={({ name }) => [
        {
          text: forbidden === null ? 'Edit' : 'View',
          dialog: close => (
            <Dialog title={name} on_close={close}>
              <SkillText name={name} forbidden={forbidden} on_done={close} />
            </Dialog>
          ),
        },
        {
          text: 'Delete',
          reason: forbidden,
          dialog: close => (
            <ConfirmDialog
              title={`Delete ${name}`}
              action="Delete skill"
              send={() => call('deleteSkill', { params: { skill: name } })}
              refresh={[skillsQuery]}
              done={`${name} was deleted`}
              on_close={close}
            >
              Agents no longer see it from their next turn on. Its text cannot be restored.
            </ConfirmDialog>
          ),
        },
      ]}
      empty={
        <Blank icon={<BookOpen />} title="No skills yet">
          Describe here how your organization publishes a version, writes a migration or reviews a change.
        </Blank>
      }
    />
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
  momentColumn('Set', ({ updated_at }) => updated_at),
]
