# At each time of the schedule the group takes its count; -1 leaves its limits as they are. EC2 takes 125 actions a group:
# later ones are made by a later apply, and until then there are no nodes.
locals {
  kept  = slice(sort(keys(local.coming)), 0, min(60, length(local.coming)))
  steps = { for n, start in local.kept : start => n == 59 && length(local.coming) > 60 ? 0 : local.coming[start] }
}

resource "aws_autoscaling_schedule" "step" {
  for_each = local.steps

  scheduled_action_name  = replace(each.key, ":", "")
  autoscaling_group_name = aws_autoscaling_group.pool.name
  start_time             = each.key
  desired_capacity       = each.value
  min_size               = -1
  max_size               = -1
}

locals {
  weeks = {
    for row in var.week : "${row.month}-${row.hour}-${join("-", row.days)}" => merge(row, {
      starts = "${row.month}-01T00:00:00Z"
      ends   = "${formatdate("YYYY-MM", timeadd("${row.month}-01T00:00:00Z", "744h"))}-01T00:00:00Z"
    })
  }
  weeks_left = sort([for name, row in local.weeks : name if timecmp(row.ends, plantimestamp()) > 0])
}

# The hours of the week of a month: from each hour on, on its days, until the month ends.
resource "aws_autoscaling_schedule" "week" {
  for_each = { for name in slice(local.weeks_left, 0, min(60, length(local.weeks_left))) : name => local.weeks[name] }

  scheduled_action_name  = each.key
  autoscaling_group_name = aws_autoscaling_group.pool.name
  recurrence             = "0 ${each.value.hour} * * ${join(",", each.value.days)}"
  start_time             = timecmp(each.value.starts, plantimestamp()) > 0 ? each.value.starts : null
  end_time               = each.value.ends
  desired_capacity       = each.value.node_count
  min_size               = -1
  max_size               = -1
}
