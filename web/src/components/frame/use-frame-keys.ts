import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { isTyping } from '../../ui/single-keys.ts'
import { CHORD_TIMEOUT_MS } from './keys.ts'
import { all_navigation } from './navigation.ts'

type Actions = { commands: () => void; keys: () => void; sidebar: () => void }

/**
 * The keys of every page: Ctrl or Cmd with K, `g` and a letter, `c`, `[`, `?`. Single keys do nothing while
 * the person types.
 */
export function useFrameKeys(actions: Actions): void {
  const navigate = useNavigate()
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    let chord_until = 0
    const onKey = (event: KeyboardEvent) => {
      const { commands, keys, sidebar } = latest.current
      const act = (action: () => void) => {
        event.preventDefault()
        // A page must not handle the second key of a chord as its own.
        event.stopPropagation()
        action()
      }
      if (
        event.key.toLowerCase() === 'k' &&
        (event.ctrlKey || event.metaKey) &&
        !event.altKey &&
        !event.shiftKey
      )
        return act(commands)
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event.target) ||
        document.querySelector('dialog[open]')
      )
        return
      const in_chord = event.timeStamp < chord_until
      chord_until = 0
      const page = in_chord && all_navigation.find(({ key }) => key === event.key)
      if (page) return act(() => void navigate(page.link))
      if (event.key === 'g') chord_until = event.timeStamp + CHORD_TIMEOUT_MS
      else if (event.key === 'c') act(() => void navigate({ to: '/new', search: {} }))
      else if (event.key === '[') act(sidebar)
      else if (event.key === '?') act(keys)
    }
    window.addEventListener('keydown', onKey, true)
    return () => window.removeEventListener('keydown', onKey, true)
  }, [navigate])
}
