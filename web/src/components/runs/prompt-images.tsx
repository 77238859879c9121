import { ImagePlus, X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Button } from '../../ui/button.tsx'
import { notify } from '../../ui/toast.ts'

const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** The images among files as data URIs. Reports files that no model can read. */
async function readImages(files: FileList): Promise<string[]> {
  const readable = [...files].filter(({ type }) => types.includes(type))
  if (readable.length < files.length) notify('Only PNG, JPEG, GIF and WebP images can be added', 'bad')
  return Promise.all(readable.map(readDataUri))
}

const readDataUri = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

type Props = {
  /** Data URIs. */
  images: string[]
  on_add: (images: string[]) => void
  on_remove: (index: number) => void
  problem: string | undefined
  /** The field for the prompt, into which images are pasted and dropped. */
  children: ReactNode
}

/** A prompt with images: pasted, dropped, or chosen with a button. */
export function PromptImages({ images, on_add, on_remove, problem, children }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const add = async (files: FileList) => on_add(await readImages(files))
  const choose = () => {
    if (!input.current) return
    // Otherwise the same file could not be chosen twice.
    input.current.value = ''
    input.current.click()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: with the keyboard, images are pasted into the field or chosen with the button
    <div
      onPaste={event => {
        if (event.clipboardData.files.length === 0) return
        event.preventDefault()
        void add(event.clipboardData.files)
      }}
      onDragOver={event => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={event => {
        if (event.dataTransfer.files.length === 0) return
        event.preventDefault()
        void add(event.dataTransfer.files)
      }}
    >
      {children}
      <div className="mt-1.5 flex flex-wrap items-center gap-2">
        {images.map((image, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same image may be added twice
          <span key={index} className="relative">
            <img
              src={image}
              alt={`Attachment ${index + 1}`}
              className="h-14 max-w-28 rounded-md border border-line object-cover"
            />
            <button
              type="button"
              aria-label={`Remove image ${index + 1}`}
              onClick={() => on_remove(index)}
              className="absolute -top-2 -right-2 flex size-6 items-center justify-center rounded-full border border-line bg-surface text-muted hover:text-ink"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </span>
        ))}
        <input
          ref={input}
          type="file"
          multiple
          hidden
          accept={types.join()}
          onChange={event => event.currentTarget.files && add(event.currentTarget.files)}
        />
        <Button variant="quiet" onClick={choose} className={images.length === 0 ? '-ml-2.5' : ''}>
          <ImagePlus aria-hidden className="size-4" /> Add images
        </Button>
      </div>
      {problem && (
        <p role="alert" className="mt-1 text-bad text-xs">
          {problem}
        </p>
      )}
    </div>
  )
}
