import { useEffect, useRef, useState } from 'react'
import { readTabStorage, writeTabStorage } from './tab-storage.ts'

const PREFIX = 'draft:'

const CHANGED = 'draft-changed'

/** Changes a draft from outside its form, which shows it at once if it is open. */
export function changeDraft(name: string, change: (stored: unknown) => unknown): void {
  writeTabStorage(PREFIX + name, change(readTabStorage(PREFIX + name)))
  window.dispatchEvent(new CustomEvent(CHANGED, { detail: name }))
}

/**
 * State of a form that survives leaving the page and reloading it, in this tab. `restore` turns what was
 * stored, which may be of an earlier version, into a value. `drop` ends the draft, for example when it was
 * sent.
 */
export function useDraft<T>(
  name: string,
  restore: (stored: unknown) => T,
): { value: T; set: (change: (old: T) => T) => void; drop: () => void } {
  const [{ value, stored }, setDraft] = useState(() => ({
    value: restore(readTabStorage(PREFIX + name)),
    stored: false,
  }))
  useEffect(() => {
    if (stored) writeTabStorage(PREFIX + name, value)
  }, [name, value, stored])
  const latest = useRef(restore)
  latest.current = restore
  useEffect(() => {
    const onChange = (event: Event) => {
      if (event instanceof CustomEvent && event.detail === name)
        setDraft({ value: latest.current(readTabStorage(PREFIX + name)), stored: true })
    }
    window.addEventListener(CHANGED, onChange)
    return () => window.removeEventListener(CHANGED, onChange)
  }, [name])
  return {
    value,
    set: change => setDraft(old => ({ value: change(old.value), stored: true })),
    drop() {
      writeTabStorage(PREFIX + name, null)
      setDraft({ value: restore(null), stored: false })
    },
  }
}

/** Removes all drafts of this tab. */
export function dropDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  } catch {
    // Nothing was stored.
  }
}
