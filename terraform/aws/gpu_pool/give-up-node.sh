#!/bin/bash
# Tells the group to replace this node. It needs a profile that allows autoscaling:SetInstanceHealth.
set -uo pipefail

metadata=http://169.254.169.254/latest
token=$(curl -fsS -X PUT -H "X-aws-ec2-metadata-token-ttl-seconds: 60" "$metadata/api/token")
ask() { curl -fsS -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/$1"; }
aws autoscaling set-instance-health --region "$(ask placement/region)" --instance-id "$(ask instance-id)" \
  --health-status Unhealthy --no-should-respect-grace-period
