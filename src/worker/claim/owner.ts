import { randomUUID } from 'node:crypto'

/** Creates a unique name for this process as an owner of runs. */
export const newOwner = () => `${process.pid}-${randomUUID().slice(0, 8)}`
