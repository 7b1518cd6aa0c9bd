#!/bin/bash
# Every five minutes: whether the accelerators of the node are well. Asked with «answer», over HTTP and from this node only, it
# tells the scale set what it found last; a node that is found broken twice in a row is replaced.
set -uo pipefail

failures=/run/check-node.failures
well=/run/check-node.well

if [[ ${1:-} == answer ]]; then
  while read -r -t 5 line && [[ -n ${line%$'\r'} ]]; do :; done
  status="503 Service Unavailable"
  [[ ! -e $well ]] || status="200 OK"
  printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$status"
  exit 0
fi

is_well() {
  nvidia-smi --list-gpus >/dev/null || return 1
  [[ $(nvidia-smi --list-gpus | wc -l) -ge $(cat /run/check-node.count 2>/dev/null || echo 1) ]] || return 1
  # The state that DCGM keeps of memory, links, power and heat, where the image brings it.
  if command -v dcgmi >/dev/null; then
    dcgmi health --group 0 --set a >/dev/null 2>&1
    ! dcgmi health --group 0 --check 2>/dev/null | grep -q "Failure"
  fi
}

if is_well; then
  [[ -e /run/check-node.count ]] || nvidia-smi --list-gpus | wc -l >/run/check-node.count
  rm -f "$failures"
  touch "$well"
  exit 0
fi
echo "the accelerators of this node are not well"
[[ ! -e $failures ]] || rm -f "$well"
touch "$failures"
