# A profile of a fixed date goes before one of the hours of the week, and that before the one for all other times.
# Azure takes 20 profiles: the months to come that fit, and one for after them, when there are no nodes.
# https://learn.microsoft.com/azure/azure-monitor/autoscale/autoscale-multiprofile
locals {
  starts = sort(keys(local.counts))
  windows = [
    for n, start in local.starts : {
      name  = formatdate("YYYY-MM-DD hh", start)
      start = start
      end   = local.starts[n + 1]
      count = local.counts[start]
    }
    if n + 1 < length(local.starts) && !contains(var.week[*].month, formatdate("YYYY-MM", start))
  ]
  windows_left = [for window in local.windows : window if timecmp(window.end, plantimestamp()) > 0]
  last         = one(slice(reverse(local.starts), 0, min(1, length(local.starts))))
  # What does not fit comes with a later apply; until then there are no nodes.
  cut = try(local.windows_left[length(local.fixed_dates)].start, null)
  end = local.last == null ? [] : [{
    name  = "after"
    start = coalesce(local.cut, local.last)
    end   = timeadd(local.last, "87600h")
    count = local.cut == null ? local.counts[local.last] : 0
  }]
  day_names = {
    MON = "Monday", TUE = "Tuesday", WED = "Wednesday", THU = "Thursday", FRI = "Friday", SAT = "Saturday", SUN = "Sunday"
  }
  # The hours of the week know no month: those of the first month that is not over, and of the next by a later apply.
  week_months = sort([
    for month in distinct(var.week[*].month) : month
    if timecmp(timeadd("${month}-01T00:00:00Z", "744h"), plantimestamp()) > 0
  ])
  weekly      = [for row in var.week : row if try(row.month == local.week_months[0], false)]
  fixed_dates = slice(local.windows_left, 0, min(max(0, 18 - length(local.weekly)), length(local.windows_left)))
}

resource "azurerm_monitor_autoscale_setting" "pool" {
  count = length(var.schedule) + length(var.week) > 0 ? local.scale_sets : 0

  name                = "${local.set_names[count.index]}-hours"
  location            = var.location
  resource_group_name = local.resource_group_name
  tags                = local.tags
  target_resource_id = concat(
    azurerm_linux_virtual_machine_scale_set.pool[*].id,
    azurerm_orchestrated_virtual_machine_scale_set.pool[*].id,
  )[count.index]

  profile {
    name = "otherwise"

    capacity {
      default = local.set_counts[count.index]
      minimum = local.set_counts[count.index]
      maximum = local.set_counts[count.index]
    }
  }

  dynamic "profile" {
    for_each = local.weekly

    content {
      name = "week ${profile.key}"

      capacity {
        default = min(local.set_sizes[count.index], max(0, profile.value.node_count - count.index * local.set_sizes[count.index]))
        minimum = min(local.set_sizes[count.index], max(0, profile.value.node_count - count.index * local.set_sizes[count.index]))
        maximum = min(local.set_sizes[count.index], max(0, profile.value.node_count - count.index * local.set_sizes[count.index]))
      }

      recurrence {
        timezone = "UTC"
        days     = [for day in profile.value.days : local.day_names[day]]
        hours    = [profile.value.hour]
        minutes  = [0]
      }
    }
  }

  dynamic "profile" {
    for_each = concat(local.fixed_dates, local.end)

    content {
      name = profile.value.name

      capacity {
        default = min(local.set_sizes[count.index], max(0, profile.value.count - count.index * local.set_sizes[count.index]))
        minimum = min(local.set_sizes[count.index], max(0, profile.value.count - count.index * local.set_sizes[count.index]))
        maximum = min(local.set_sizes[count.index], max(0, profile.value.count - count.index * local.set_sizes[count.index]))
      }

      fixed_date {
        timezone = "UTC"
        start    = profile.value.start
        end      = profile.value.end
      }
    }
  }

  lifecycle {
    precondition {
      condition     = length(local.weekly) <= 18
      error_message = "Azure takes 20 profiles of hours: give a week with fewer changes."
    }
  }
}
