#!/bin/sh
# Tries stream-tail@.service under a real systemd: sh src/pack/check_systemd.sh PROGRAM [ROOT]
#
# ROOT is a root folder of Debian with systemd (debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm
# ROOT), /var/tmp/sloop-systemd unless given. PROGRAM is copied into it, with its libraries if it has any, and systemd-nspawn
# boots the root with a network of its own. There the service is started, killed, starved of its watchdog, stopped and
# misused. Needs root and systemd-container. By hand: it takes about a minute.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=${1:?usage: check_systemd.sh PROGRAM [ROOT]}
root=${2:-/var/tmp/sloop-systemd}
[ -x "$root/usr/bin/systemctl" ] || { echo "check_systemd: $root is no root with systemd" >&2; exit 1; }
install -m 755 "$program" "$root/usr/bin/stream-tail"
{ ldd "$program" 2>/dev/null || true; } | sed -n 's,.* => \(/[^ ]*\) .*,\1,p' | while read -r library; do
  [ -e "$root$library" ] || install -D -m 644 "$library" "$root$library"
done
install -D -m 644 "$here/systemd/stream-tail@.service" "$root/usr/lib/systemd/system/stream-tail@.service"
rm -rf "$root/etc/stream-tail" "$root/var/lib/private/stream-tail" "$root/etc/systemd/system/stream-tail@.service.d" "$root/root/said" "$root/var/log/journal"
mkdir -p "$root/etc/stream-tail"

cat >"$root/root/check.sh" <<'INSIDE'
set -u
failed=0
ok() { echo "ok   $*"; }
bad() { echo "FAIL $*"; failed=$((failed + 1)); }
is() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1: $2, not $3"; fi; }
until_is() { # until_is WHAT SECONDS WANTED COMMAND...
  what=$1 left=$(($2 * 5)) wanted=$3
  shift 3
  while [ "$left" -gt 0 ] && [ "$("$@")" != "$wanted" ]; do
    sleep 0.2
    left=$((left - 1))
  done
  is "$what" "$("$@")" "$wanted"
}
of() { systemctl show --value -p "$1" stream-tail@"${2:-orders}"; }
conf() { # conf NAME ARGS
  cat >"/etc/stream-tail/$1.conf" <<CONF
ARGS=$2
AWS_ENDPOINT_URL=http://127.0.0.1:4567
AWS_REGION=us-east-1
AWS_ACCESS_KEY_ID=sandbox
AWS_SECRET_ACCESS_KEY=sandbox
AWS_EC2_METADATA_DISABLED=true
CONF
}
client() { env $(grep ^AWS /etc/stream-tail/orders.conf) stream-tail "$@"; }
printed() { journalctl -o cat -u stream-tail@orders | grep -c "record-$1"; }
restarts() { of NRestarts; }

systemd-run -q --unit=sandbox sh -c 'sleep 1000000 | stream-tail -q -M 2 -X sandbox.port=4567'
conf orders "-G billing -o oldest demo"
until client -L demo >/dev/null 2>&1; do sleep 0.2; done

systemctl kill -s STOP sandbox
systemctl start --no-block stream-tail@orders
sleep 3
is "while the service does not answer it is" "$(of ActiveState)" activating
systemctl kill -s CONT sandbox
until_is "when the worker has joined it is" 20 active of ActiveState
client -G billing --leases demo | grep -q worker && ok "a worker is in the lease table" || bad "no worker in the table"
until_is "its status says what it does" 10 "2 shards" sh -c "systemctl show --value -p StatusText stream-tail@orders | cut -c 1-8"
user=$(stat -c %u "/proc/$(of MainPID)")
[ "$user" -ge 61184 ] && ok "it runs as a user of its own: $user" || bad "its user is $user"
seq -f 'record-a%g' 1 20 | client -P demo
until_is "records come into the journal" 15 20 printed a

was=$(of MainPID)
kill -KILL "$was"
until_is "killed, it is started again" 20 1 restarts
until_is "and joins again" 30 active of ActiveState
seq -f 'record-b%g' 1 20 | client -P demo
until_is "and goes on" 40 20 printed b

mkdir -p /etc/systemd/system/stream-tail@.service.d
printf '[Service]\nWatchdogSec=3\n' >/etc/systemd/system/stream-tail@.service.d/short.conf
systemctl daemon-reload
systemctl restart stream-tail@orders
sleep 8
is "a loop that runs feeds a watchdog of 3 s" "$(of ActiveState) $(restarts)" "active 0"
kill -STOP "$(of MainPID)"
until_is "a process that stands is ended by it and started again" 30 1 restarts
journalctl -u stream-tail@orders | grep -q "Watchdog timeout" && ok "the journal says so" || bad "the journal does not say so"
until_is "and joins again" 40 active of ActiveState

began=$(date +%s%N)
systemctl stop stream-tail@orders
took=$((($(date +%s%N) - began) / 1000000))
is "stopped, it ends well" "$(of Result) $(of ExecMainStatus)" "success 0"
[ "$took" -lt 11000 ] && ok "within the time for its leases: $took ms" || bad "it took $took ms"
journalctl -o cat -u stream-tail@orders | grep -q "continues from here" && ok "its leases are released" || bad "not released"

conf wrong "--nonsense demo"
systemctl start stream-tail@wrong 2>/dev/null
sleep 7
is "wrong usage is not tried again" "$(of ActiveState wrong) $(of ExecMainStatus wrong) $(of NRestarts wrong)" "failed 2 0"
conf away "-o oldest nowhere"
systemctl start stream-tail@away 2>/dev/null
sleep 7
[ "$(of NRestarts away)" -ge 1 ] && ok "what may pass is tried again" || bad "not tried again"
systemctl stop stream-tail@away

conf place "--save place -o oldest demo"
systemctl start stream-tail@place
conf file "-G local --store sqlite:leases -o oldest demo"
systemctl start stream-tail@file
is "two instances with files are" "$(of ActiveState place) $(of ActiveState file)" "active active"
sleep 2
systemctl stop stream-tail@place stream-tail@file
[ -s /var/lib/stream-tail/place ] && [ -s /var/lib/stream-tail/leases ] && ok "their files are in /var/lib/stream-tail" ||
  bad "$(ls -l /var/lib/stream-tail/)"
conf regex "-o oldest --grep record-a1[05] demo"
systemctl start stream-tail@regex
sleep 2
is "--grep works without memory that is written and executed" \
  "$(journalctl -o cat -u stream-tail@regex | grep -c '^record-a1[05]')" 2
said=$(systemd-analyze verify --man=no stream-tail@orders.service 2>&1) && [ -z "$said" ] && ok "systemd-analyze verify says nothing" || bad "verify: $said"
systemd-analyze security --no-pager stream-tail@orders | tail -n 1 | sed 's/^[^O]*/     /'
systemd-analyze security --no-pager --threshold=20 stream-tail@orders >/dev/null && ok "its exposure is at most 2.0" ||
  bad "its exposure is above 2.0"
echo "$failed failed"
INSIDE
cat >"$root/etc/systemd/system/check.service" <<'UNIT'
[Unit]
After=multi-user.target dbus.service systemd-logind.service
[Service]
Type=oneshot
ExecStart=sh -c 'sh /root/check.sh >/root/said 2>&1; systemctl poweroff --no-block'
TimeoutStartSec=300
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf /etc/systemd/system/check.service "$root/etc/systemd/system/multi-user.target.wants/check.service"
timeout 400 systemd-nspawn -q -D "$root" --register=no --keep-unit --private-network --boot >"$root.console" 2>&1 </dev/null || true
[ -e "$root/root/said" ] || { tail -n 20 "$root.console" >&2; echo "check_systemd: the root did not boot" >&2; exit 1; }
cat "$root/root/said"
tail -n 1 "$root/root/said" | grep -q '^0 failed'
