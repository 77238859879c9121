import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { artifactFile, artifactId } from '../../trace/download.ts'
import { Button } from '../../ui/button.tsx'
import { saveBlob } from '../../ui/save-blob.ts'

/**
 * Saves the whole output of a tool, where its entry shows only part of it. Renders nothing if it was not
 * stored.
 */
export function WholeOutput({ artifact_url }: { artifact_url: string | null }) {
  const id = artifact_url === null ? null : artifactId(artifact_url)
  const save = useMutation({
    mutationFn: artifactFile,
    onSuccess: ({ blob, name }) => saveBlob(blob, name),
  })
  if (id === null) return null
  return (
    <div className="flex items-center gap-2">
      <Button variant="quiet" className="h-6! text-xs!" busy={save.isPending} onClick={() => save.mutate(id)}>
        <Download aria-hidden className="size-3.5" /> Download full output
      </Button>
      {save.isError && (
        <span role="alert" className="text-bad text-xs">
          {visible(save.error.message)}
        </span>
      )}
    </div>
  )
}
