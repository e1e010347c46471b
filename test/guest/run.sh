#!/bin/sh
# Real programs of other systems beside ours, in the sandbox: sh test/guest/run.sh [--minutes N] [--keep FOLDER] [KIND...]
#
# KIND: kcl-2 kcl-3 kinsumer vmware-go-kcl motorway bloop migrate push sdk multilang upgrade creds
# deaggregate, or all. Without one: the short form of kcl-3,
# kinsumer, bloop and multilang, about eight minutes. --minutes N is the full form of the stories: whole rounds until N
# minutes have passed; that of multilang is in the options of peer_multilang.py, which --multilang 'WORDS' hands on. What a
# KIND needs is installed by its ordinary client (install.sh); one whose tool is not here is skipped with the reason.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/test/guest
build=${SLOOP_BUILD:-$root/build}
options='' keep='' kinds='' multilang=''
while [ $# -gt 0 ]; do
  case $1 in
    --minutes | --seed | --keep)
      options="$options $1 $2"
      [ "$1" != --keep ] || keep="$1 $2"
      shift
      ;;
    --multilang)
      multilang=$2
      shift
      ;;
    all) kinds='kcl-2 kcl-3 kinsumer vmware-go-kcl motorway bloop migrate push sdk multilang upgrade creds deaggregate' ;;
    *) kinds="$kinds $1" ;;
  esac
  shift
done
[ -n "$kinds" ] || kinds='kcl-3 kinsumer bloop multilang'

sh "$root/test/install.sh" test
[ -e "$build/build.ninja" ] || sh "$root/test/build.sh" "$build" stream-tail
ninja -C "$build" stream-tail test/process/sandbox_main >/dev/null
export SLOOP_BIN="$build/stream-tail" SLOOP_TEST_SANDBOX="$build/test/process/sandbox_main"
export SLOOP_TEST_PYTHON="$root/.cache/venv/bin/python" SLOOP_TEST_CACHE="$root/.cache" PYTHONDONTWRITEBYTECODE=1

status=0 stories=
run() { # run TEST [ARGUMENT...]: 77 says that all of it was skipped
  python3 "$root/test/process/venv.py" "$@" || [ $? -eq 77 ] || status=1
}
for kind in $kinds; do
  case $kind in
    kcl-2) program=kcl2 ;;
    kcl-3) program=kcl3 ;;
    vmware-go-kcl) program=vmware ;;
    migrate | upgrade) program='kcl2 kcl3' ;;
    push) program='gosdk vmware kcl2 kcl3' ;;
    sdk) program='jssdk kcl2 kcl3' ;;
    creds) program='credsgo credsjs credsboto' ;;
    deaggregate) program='kcl3 deagggo deaggjs deaggkcl' ;;
    *) program=$kind ;;
  esac
  # shellcheck disable=SC2086 # a list of words
  sh "$here/install.sh" $program || [ $? -eq 77 ] || status=1
  if [ "$kind" = bloop ]; then
    run "$here/peer_bloop.py"
  elif [ "$kind" = migrate ]; then
    run "$here/peer_migrate_kcl.py"
  elif [ "$kind" = creds ]; then
    run "$here/peer_creds.py"
  elif [ "$kind" = deaggregate ]; then
    run "$here/peer_deaggregate.py"
  elif [ "$kind" = push ]; then
    run "$here/peer_push.py"
  elif [ "$kind" = sdk ]; then
    run "$here/peer_sdk_h2.py"
  elif [ "$kind" = multilang ]; then
    # shellcheck disable=SC2086 # a list of words
    run "$here/peer_multilang.py" $multilang
  elif [ "$kind" = upgrade ]; then
    # shellcheck disable=SC2086 # a list of words
    run "$here/peer_upgrade.py" $keep
  else
    case $kind in kinsumer | vmware-go-kcl) run "$here/peer_migrate_go.py" "$kind" ;; esac
    [ "$kind" != kinsumer ] || run "$here/peer_commands.py"
    stories="$stories $kind"
  fi
done
# shellcheck disable=SC2086 # lists of words
[ -z "$stories" ] || run "$here/peer_story.py" $options $stories
case $stories in *motorway*) run "$here/peer_migrate.py" ;; esac
exit $status
