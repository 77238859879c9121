import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { PageTitle } from '../../components/page.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { notify } from '../../ui/toast.ts'
import { useRepository } from './use-repository.ts'

/** What cannot be undone. */
export function RepositoryDanger() {
  const { id, full_name } = useRepository()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const forbidden = useRepositoryReason()
  const [confirming, setConfirming] = useState(false)
  const leave = async () => {
    queries.setQueryData(repositoriesQuery.queryKey, list => list?.filter(repository => repository.id !== id))
    notify(`Deleted ${full_name}`)
    await navigate({ to: '/repositories' })
    await queries.invalidateQueries({ queryKey: repositoriesQuery.queryKey })
  }
  return (
    <section
      aria-labelledby="delete-repository"
      className="max-w-2xl rounded-lg border border-bad/40 bg-surface p-4"
    >
      <PageTitle>{`Danger zone · ${full_name}`}</PageTitle>
      <h2 id="delete-repository" className="font-semibold">
        Delete this repository
      </h2>
      <p className="mt-1 mb-3 text-muted">
        Its settings, secrets and environments are deleted. Its runs and their traces stay, and cannot be
        resumed. The repository at its address is not changed.
      </p>
      <Button variant="danger" reason={forbidden} onClick={() => setConfirming(true)}>
        Delete repository
      </Button>
      {confirming && (
        <ConfirmDialog
          title="Delete repository"
          action="Delete repository"
          typed_name={full_name}
          send={() => call('deleteRepository', { params: { repo_id: id } })}
          on_done={leave}
          on_close={() => setConfirming(false)}
        >
          {visible(full_name)} is removed from this service with its settings and secrets. This cannot be
          undone.
        </ConfirmDialog>
      )}
    </section>
  )
}
