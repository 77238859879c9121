import type { ActionTool } from '../../contract/runs/action-tools.ts'

/**
 * Returns names of tools as an SQL list for `in`. They are constants of the contract, so nothing needs to be
 * quoted.
 */
export const toolList = (...names: ActionTool[]): string => `(${names.map(name => `'${name}'`).join(', ')})`
