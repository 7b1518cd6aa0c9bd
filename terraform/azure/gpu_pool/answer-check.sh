#!/bin/bash
# Tells the scale set, which asks over HTTP from this node, what check-node found last.
set -uo pipefail

while read -r -t 5 line && [[ -n ${line%$'\r'} ]]; do :; done
status="503 Service Unavailable"
[[ ! -e /run/check-node.well ]] || status="200 OK"
printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$status"
