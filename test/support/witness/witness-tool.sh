#!/bin/sh
# A fake tool that leaves a witness: who started when, who ended when, and whether two of one key ran at a time.
#
#     witness-tool.sh DIRECTORY KEY SECONDS [plain|deaf|stray|quick-stray]
#
# plain        sleeps and ends.
# deaf         sleeps and ignores SIGTERM.
# stray        leaves a child in a new session that ignores SIGTERM for ever, then does as plain.
# quick-stray  the same, but that child ends by itself after SECONDS and says so; the tool itself sleeps on.
#
# Lines are short and written with O_APPEND, so they never mix. Every child inherits the lock, also one that leaves the
# session: while one process of the tool lives, the next of its key finds the lock taken and says `overlap`.
directory=$1 key=$2 seconds=$3 mode=${4:-plain}

say() {
  echo "$1 $$ ${SVC_JOB_ID:-none} $key $(date +%s%N)" >>"$directory/witness"
}

exec 9>>"$directory/$key.lock"
flock -n 9 || say overlap
say start
case $mode in
  deaf) trap '' TERM ;;
  stray)
    trap '' TERM
    setsid sh -c 'while :; do sleep 1; done' &
    trap - TERM
    ;;
  quick-stray)
    trap '' TERM
    setsid sh -c 'sleep "$1"; echo "stray-end $$ $SVC_JOB_ID $2 $(date +%s%N)" >>"$3/witness"' stray "$seconds" "$key" "$directory" &
    trap - TERM
    seconds=60
    ;;
esac
sleep "$seconds"
say end
