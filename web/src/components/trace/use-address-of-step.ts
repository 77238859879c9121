import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Browsers limit how often an address changes, and a held key moves 30 times a second. */
const DELAY_MS = 150

/** Puts the entry that a key has selected into the address. `seq`: the entry that the address names. */
export function useAddressOfStep(seq: number): (index: number) => void {
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another entry in the address ends the step before it
  useEffect(() => () => clearTimeout(timer.current), [seq])
  return index => {
    clearTimeout(timer.current)
    timer.current = setTimeout(
      () => void navigate({ search: previous => previous, hash: `e${index + 1}`, replace: true, resetScroll: false }),
      DELAY_MS,
    )
  }
}
