import { useLocation } from '@tanstack/react-router'

/** The entry that the address of a trace names (`#e12`), 0 for none. */
export const useEntrySeq = (): number =>
  useLocation({ select: ({ hash }) => Number(/^e(\d{1,9})$/.exec(hash)?.[1] ?? 0) })
