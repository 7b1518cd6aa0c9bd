# Nothing of Google stops a slice at a time: each ends itself when its schedule has no place for it any more, at the latest
# after the plan. It starts at an apply. Slices are taken from the last to the first.
locals {
  this_clock_hour = formatdate("YYYY-MM-DD'T'hh:00:00Z", plantimestamp())
  # Slices in each hour of the week to come, where the hours of the week say it.
  hours_to_come = [for hour in range(1, 169) : timeadd(local.this_clock_hour, "${hour}h")]
  weekly = flatten([
    for time in length(var.week) > 0 ? local.hours_to_come : [] : [
      for row in var.week : { time = time, count = row.node_count }
      if row.month == formatdate("YYYY-MM", time) && contains(row.days, upper(formatdate("EEE", time))) &&
      contains(range(row.hour, row.hour + row.hours), tonumber(formatdate("h", time)))
    ]
  ])
  drops = concat(local.weekly, [for start, count in local.coming : { time = start, count = count }])
  ends  = [for slice in range(local.node_count) : try(sort([for drop in local.drops : drop.time if drop.count <= slice])[0], null)]
}
