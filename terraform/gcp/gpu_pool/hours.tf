# The autoscaler of a group keeps what its schedules ask for, and nothing between them. A schedule begins anew each hour,
# so that one which has begun before it was made holds from the next hour on.
# https://docs.cloud.google.com/compute/docs/autoscaler/scaling-schedules
locals {
  starts = sort(keys(local.counts))
  windows = [
    for n, start in local.starts : {
      count = local.counts[start]
      month = formatdate("YYYY-MM", start)
      until = timeadd(local.starts[n + 1], "-1h")
      day   = tonumber(formatdate("D", start))
      hour  = tonumber(formatdate("h", start))
      days  = tonumber(formatdate("D", timeadd(local.starts[n + 1], "-1h")))
      hours = tonumber(formatdate("h", timeadd(local.starts[n + 1], "-1h")))
    } if n + 1 < length(local.starts) && local.counts[start] > 0
  ]
  # The rest of the first day, the days between, the first hours of the last day; hours and days as cron has them.
  pieces = flatten([
    for window in local.windows : [
      for piece in(
        window.day == window.days || (window.hour == 0 && window.hours == 23)
        ? ["${window.hour}-${window.hours} ${window.day}-${window.days}"]
        : concat(
          ["${window.hour}-23 ${window.day}-${window.day}"],
          window.days - window.day > 1 ? ["0-23 ${window.day + 1}-${window.days - 1}"] : [],
          ["0-${window.hours} ${window.days}-${window.days}"],
        )
      ) : { month = window.month, hours_and_days = piece, weekdays = "*", count = window.count }
    ]
  ])
  weekly = [
    for row in var.week : {
      month          = row.month
      hours_and_days = "${row.hour}-${row.hour + row.hours - 1} *"
      weekdays       = join(",", row.days)
      count          = row.node_count
    } if row.node_count > 0
  ]
  # A month that is over needs none; the autoscaler takes 128, later ones are made by a later apply.
  schedules = [
    for piece in concat(local.pieces, local.weekly) : piece
    if timecmp(timeadd("${piece.month}-01T00:00:00Z", "744h"), plantimestamp()) > 0
  ]
}

resource "google_compute_autoscaler" "pool" {
  count = local.scheduled ? 1 : 0

  name    = var.name
  project = var.project
  zone    = var.zones[0]
  target  = google_compute_instance_group_manager.pool[0].id

  autoscaling_policy {
    min_replicas = 0
    max_replicas = max(1, local.largest_count)
    mode         = "ON"

    dynamic "scaling_schedules" {
      for_each = slice(local.schedules, 0, min(128, length(local.schedules)))

      content {
        name                  = "n${scaling_schedules.key}-${scaling_schedules.value.month}"
        min_required_replicas = scaling_schedules.value.count
        duration_sec          = 3600
        time_zone             = "Etc/UTC"
        schedule = join(" ", [
          "0",
          scaling_schedules.value.hours_and_days,
          tonumber(substr(scaling_schedules.value.month, 5, 2)),
          scaling_schedules.value.weekdays,
          substr(scaling_schedules.value.month, 0, 4),
        ])
      }
    }
  }

  lifecycle {
    precondition {
      condition     = alltrue([for window in local.windows : formatdate("YYYY-MM", window.until) == window.month])
      error_message = "schedule needs a row at the start of each month."
    }
  }
}
