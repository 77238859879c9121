/** What a forge reports about the merge of a pull request. It may leave each of the fields out. */
type MergeFields = { merged: boolean; merged_at: Date | null; closed_at: Date | null }

export const isMerged = ({ merged, merged_at }: MergeFields): boolean => merged || merged_at !== null

/** Returns when a merged pull request was merged; it counts as merged now when the forge reports no time. */
export const mergedAt = ({ merged_at, closed_at }: MergeFields): Date => merged_at ?? closed_at ?? new Date()
