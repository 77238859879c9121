import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'

type Props = { agent_run_id: number; seq: number; count: number }

/**
 * The images of a message, in a row of fixed height, so that nothing moves when they arrive. A click enlarges
 * one.
 */
export default function MessageImages({ agent_run_id, seq, count }: Props) {
  const { data } = useQuery({
    queryKey: ['message-images', agent_run_id, seq],
    queryFn: ({ signal }) => call('getMessageImages', { params: { agent_run_id }, query: { seq }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [shown, setShown] = useState<number | null>(null)
  const nameOf = (index: number) => `Image ${index + 1} of ${count}`
  return (
    <div className="flex h-24 gap-2 overflow-x-auto">
      {data?.images.map((image, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the images of a message never change
        <button key={index} type="button" className="shrink-0 rounded-md" onClick={() => setShown(index)}>
          <img
            src={image}
            alt={nameOf(index)}
            className="h-full max-w-48 rounded-md border border-line object-contain"
          />
        </button>
      ))}
      {shown !== null && (
        <Dialog title={nameOf(shown)} on_close={() => setShown(null)}>
          <img src={data?.images[shown]} alt={nameOf(shown)} className="mx-auto max-h-[70vh] max-w-full" />
        </Dialog>
      )}
    </div>
  )
}
