#!/bin/bash
# Every five minutes: whether the accelerators of the node are well. A node that is found broken twice in a row is given up: the
# group replaces it. It needs a profile that allows autoscaling:SetInstanceHealth.
set -uo pipefail

failures=/run/check-node.failures

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
  exit 0
fi
echo "the accelerators of this node are not well"
if [[ ! -e $failures ]]; then
  touch "$failures"
  exit 0
fi
metadata=http://169.254.169.254/latest
token=$(curl -fsS -X PUT -H "X-aws-ec2-metadata-token-ttl-seconds: 60" "$metadata/api/token")
ask() { curl -fsS -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/$1"; }
aws autoscaling set-instance-health --region "$(ask placement/region)" --instance-id "$(ask instance-id)" \
  --health-status Unhealthy --no-should-respect-grace-period
