/**
 * How much a model thinks before it acts, from nothing to everything. A provider gets the nearest level that
 * its model has.
 */
export const reasoning_efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type ReasoningEffort = (typeof reasoning_efforts)[number]
