/**
 * Returns SQL: the claim of that epoch still holds the row, a run or an item of a queue: no other process has
 * claimed it since, and the claim has not ended. An ended claim must not write either: the run may be queued
 * again, and what it records would be found by the next worker.
 */
export const isHeldBy = (epoch: string): string => `epoch = ${epoch} and lease_until is not null`
