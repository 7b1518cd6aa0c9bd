#!/bin/bash
# At every boot: limits for jobs that lock memory, and one file system at /mnt/local over the disks that are in the node
# (RAID 0: the fastest, and nothing on them outlives the node anyway).
set -euo pipefail

cat >/etc/security/limits.d/90-accelerators.conf <<'LIMITS'
* - memlock unlimited
* - nofile 1048576
LIMITS

mkdir -p /mnt/local
mountpoint -q /mnt/local && exit 0
# Deep Learning images of AWS have made one already.
if mountpoint -q /opt/dlami/nvme; then
  mount --bind /opt/dlami/nvme /mnt/local
  exit 0
fi

# By the model that AWS, Azure and Google give such disks; one that holds or carries something is left alone.
disks=()
for entry in /sys/block/nvme*; do
  [[ -e $entry/device/model ]] || continue
  disk=/dev/$(basename "$entry")
  case $(xargs <"$entry/device/model") in
    "Amazon EC2 NVMe Instance Storage" | "Microsoft NVMe Direct Disk"* | nvme_card | nvme_card[0-9]*) ;;
    *) continue ;;
  esac
  [[ $(lsblk --noheadings "$disk" | wc -l) -eq 1 ]] && ! findmnt --source "$disk" >/dev/null && disks+=("$disk")
done

volume=/dev/md/local
if [[ ! -e $volume ]]; then
  case ${#disks[@]} in
    0) exit 0 ;;
    1) volume=${disks[0]} ;;
    *)
      if ! command -v mdadm >/dev/null; then
        apt-get update
        apt-get install -y mdadm
      fi
      mdadm --create "$volume" --run --homehost=any --level=0 --raid-devices="${#disks[@]}" "${disks[@]}"
      ;;
  esac
fi
blkid "$volume" >/dev/null || mkfs.ext4 -F -E nodiscard "$volume"
mount -o noatime "$volume" /mnt/local
chmod 1777 /mnt/local
