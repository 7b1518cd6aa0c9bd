# What runs now and what is to come, by schedule and week. What has begun decides, so that an apply does not undo it.
locals {
  counts = { for row in var.schedule : row.start => row.node_count }
  begun  = sort([for start in keys(local.counts) : start if timecmp(start, plantimestamp()) <= 0])
  begins = try(local.counts[sort(keys(local.counts))[0]], 0)
  # Ahead of a schedule that has more nodes later, no more run than it begins with.
  ahead   = try(max(values(local.counts)...) > local.begins, false) ? min(var.node_count, local.begins) : var.node_count
  stepped = length(local.begun) > 0 ? local.counts[local.begun[length(local.begun) - 1]] : local.ahead
  this_hour = [
    for row in var.week : row.node_count
    if row.month == formatdate("YYYY-MM", plantimestamp()) &&
    contains(row.days, upper(formatdate("EEE", plantimestamp()))) &&
    contains(range(row.hour, row.hour + row.hours), tonumber(formatdate("h", plantimestamp())))
  ]
  node_count    = length(local.this_hour) == 0 ? local.stepped : local.this_hour[0]
  coming        = { for start, count in local.counts : start => count if timecmp(start, plantimestamp()) > 0 }
  largest_count = max(var.node_count, coalesce(var.max_node_count, 0), concat(values(local.counts), var.week[*].node_count)...)
}
