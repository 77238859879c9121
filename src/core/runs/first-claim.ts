/**
 * Returns whether no worker has had the run before, and it is not a copy of another run: then it has no
 * journal, no checkpoint and no entry of a worker yet, and what an earlier worker may have left need not be
 * read. Every claim and every requeue raises the epoch.
 */
export const isFirstClaim = ({
  epoch,
  forked_at_seq,
}: {
  epoch: number
  forked_at_seq: number | null
}): boolean => epoch === 1 && forked_at_seq === null
