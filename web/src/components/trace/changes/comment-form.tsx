import { useState } from 'react'
import { visible } from '../../../text/visible.ts'
import { type DiffTarget, followUpAbout } from '../../../trace/changes/diff-target.ts'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { notify } from '../../../ui/toast.ts'
import { addToFollowUp } from '../../runs/follow-up-draft.ts'

type Props = { agent_run_id: number; target: DiffTarget; on_close: () => void }

/** A comment on a line or a file of the change of a run, which becomes a part of the follow-up. */
export function CommentForm({ agent_run_id, target, on_close }: Props) {
  const [text, setText] = useState('')
  const reason = text.trim() === '' ? 'Write something first' : null
  const submit = () => {
    if (reason !== null) return
    addToFollowUp(agent_run_id, followUpAbout(target, text))
    notify('Added to the follow-up')
    on_close()
  }
  const label = `Comment on ${visible(target.path)}${target.line === null ? '' : `, line ${target.line.number}`}`
  return (
    <form
      aria-label={label}
      className="border-line border-y bg-canvas p-2 font-sans"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <TextArea
        aria-label={label}
        placeholder="What should change here?"
        rows={2}
        autoFocus
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') on_close()
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
      />
      <div className="mt-1.5 flex justify-end gap-2">
        <Button onClick={on_close}>Cancel</Button>
        <Button type="submit" variant="primary" reason={reason}>
          Add to the follow-up
        </Button>
      </div>
    </form>
  )
}
