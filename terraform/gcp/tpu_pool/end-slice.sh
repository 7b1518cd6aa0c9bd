#!/bin/bash
# Every five minutes on every host: whether the time of the slice is over, which its metadata tell (end-at, UTC). Then the
# slice deletes itself. Its service account needs tpu.nodes.delete, which roles/tpu.admin holds.
set -euo pipefail

instance=http://metadata.google.internal/computeMetadata/v1/instance
ask() { curl -fsS -H 'Metadata-Flavor: Google' "$instance/$1"; }

end=$(ask attributes/end-at)
[[ $(date +%s) -ge $(date --date "$end" +%s) ]] || exit 0
echo "the time of this slice was over at $end"
token=$(ask service-accounts/default/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
# https://docs.cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.nodes/delete
curl -fsS -X DELETE -H "Authorization: Bearer $token" "https://tpu.googleapis.com/v2/$(ask attributes/slice-name)"
