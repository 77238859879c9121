import { type ReactNode, useEffect } from 'react'

/** An action of the page that is open, for the command menu. */
type PageCommand = { label: string; icon: ReactNode; start: () => void }

let offered: readonly PageCommand[] = []

/** The actions of the open page, as of its last rendering. */
export const pageCommands = (): readonly PageCommand[] => offered

/** Offers actions in the command menu while the page is open. */
export function useOfferedCommands(commands: readonly PageCommand[]): void {
  useEffect(() => {
    offered = commands
    return () => {
      offered = []
    }
  })
}
