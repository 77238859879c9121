# The objects of one commit with tree $1 and parents $2 (blanks between), and of trees and commits $3, that lie beyond commits $4, to
# standard output; the commit is named on standard error.
pack() {
  local tip p
  local -a parents=() add=() without=()
  for p in $2; do parents+=(-p "$p"); done
  for p in $3; do add+=("$p"); done
  for p in $4; do without+=("^$p"); done
  tip=$(GIT_AUTHOR_NAME=checkpoint GIT_AUTHOR_EMAIL= GIT_AUTHOR_DATE='@1 +0000' GIT_COMMITTER_NAME=checkpoint GIT_COMMITTER_EMAIL= \
    GIT_COMMITTER_DATE='@1 +0000' git commit-tree "${parents[@]}" -m checkpoint "$1") || return
  printf 'agentrun-tip %s\n' "$tip" >&2
  printf -v p '%s\n' "$tip" "${add[@]}" "${without[@]}"
  git pack-objects --revs --thin --stdout --quiet --delta-base-offset <<<"${p%$'\n'}"
}
