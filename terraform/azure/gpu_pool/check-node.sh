#!/bin/bash
# Every five minutes: whether the accelerators of the node are well; /run/check-node.well is there while they are. A node that is
# found broken twice in a row is given up, by give-up-node where the node itself has to ask for that.
set -uo pipefail

failures=/run/check-node.failures
well=/run/check-node.well

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
if [[ ! -e $failures ]]; then
  touch "$failures"
  exit 0
fi
rm -f "$well"
if command -v give-up-node >/dev/null; then give-up-node; fi
