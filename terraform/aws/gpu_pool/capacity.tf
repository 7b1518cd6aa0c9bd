# Capacity that is paid for whether nodes run in it or not: nothing here is made unless its variable says so.
locals {
  # A group that holds nodes on demand and on spot has one template, and spot nodes cannot start in a reservation. So what is
  # reserved for the former is open: nodes on demand take it by themselves, others of the account that match it do too.
  # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
  is_mixed      = var.purchase_option == "spot" && var.on_demand_base_count > 0
  held_count    = local.is_mixed ? min(var.on_demand_base_count, local.node_count) : local.node_count
  holds_targets = var.reserve_capacity && !local.is_mixed

  reserved = var.capacity_reservation_id != null || local.holds_targets || var.buy_capacity_block
  reservation_id = try(coalesce(
    var.capacity_reservation_id,
    one(aws_ec2_capacity_block_reservation.pool[*].id),
    local.holds_targets ? one(aws_ec2_capacity_reservation.pool[*].id) : null,
  ), null)
  offering_id = try(coalesce(
    var.capacity_block_offering_id,
    one(data.aws_ec2_capacity_block_offering.pool[*].capacity_block_offering_id),
  ), null)
}

resource "aws_ec2_capacity_reservation" "pool" {
  count = var.reserve_capacity ? 1 : 0

  availability_zone       = data.aws_subnet.first.availability_zone
  instance_type           = var.instance_type
  instance_count          = local.held_count
  instance_platform       = "Linux/UNIX"
  instance_match_criteria = local.is_mixed ? "open" : "targeted"
  ebs_optimized           = true
  placement_group_arn     = one(aws_placement_group.pool[*].arn)
  end_date_type           = var.reservation_end == null ? "unlimited" : "limited"
  end_date                = var.reservation_end
  tags                    = local.tags

  lifecycle {
    precondition {
      condition     = (var.purchase_option == "on_demand" || local.is_mixed) && var.capacity_reservation_id == null
      error_message = "reserve_capacity is for nodes on demand without a capacity_reservation_id; a spot pool has such nodes where on_demand_base_count is above 0."
    }

    precondition {
      condition     = length(local.subnet_ids) == 1 && length(var.alternative_instance_types) == 0
      error_message = "reserve_capacity holds one instance type in one zone: give one subnet and no alternative types."
    }

    precondition {
      condition     = local.held_count > 0
      error_message = "reserve_capacity needs a node_count above 0."
    }
  }
}

# Looking is free; the outputs say what the block costs before anything is bought.
data "aws_ec2_capacity_block_offering" "pool" {
  count = var.capacity_block_search == null ? 0 : 1

  instance_type           = var.instance_type
  instance_count          = local.largest_count
  capacity_duration_hours = var.capacity_block_search.duration_hours
  start_date_range        = var.capacity_block_search.starts_after
  end_date_range          = var.capacity_block_search.ends_before
}

# A block is paid for at once and cannot be given back; destroying this would only forget it, and replacing it would
# buy a second one. So neither can happen: `terraform state rm` forgets a block whose time has passed.
resource "aws_ec2_capacity_block_reservation" "pool" {
  count = var.buy_capacity_block ? 1 : 0

  capacity_block_offering_id = local.offering_id
  instance_platform          = "Linux/UNIX"
  tags                       = local.tags

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [capacity_block_offering_id]

    precondition {
      condition     = var.purchase_option == "capacity_block" && var.capacity_reservation_id == null
      error_message = "buy_capacity_block is for purchase_option capacity_block without a capacity_reservation_id."
    }

    precondition {
      condition     = var.capacity_block_offering_id != null || var.capacity_block_search != null
      error_message = "buy_capacity_block needs capacity_block_offering_id, or capacity_block_search to find it."
    }

    precondition {
      condition = alltrue([
        for offering in data.aws_ec2_capacity_block_offering.pool :
        offering.availability_zone == data.aws_subnet.first.availability_zone
      ])
      error_message = "The capacity block that was found lies in another zone than the first of subnet_ids."
    }
  }
}
