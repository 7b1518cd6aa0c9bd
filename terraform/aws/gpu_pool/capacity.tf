# Capacity that is paid for whether nodes run in it or not: nothing here is made unless its variable says so.
locals {
  reserved = var.capacity_reservation_id != null || var.reserve_capacity || var.buy_capacity_block
  reservation_id = try(coalesce(
    var.capacity_reservation_id,
    one(aws_ec2_capacity_block_reservation.pool[*].id),
    one(aws_ec2_capacity_reservation.pool[*].id),
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
  instance_count          = local.node_count
  instance_platform       = "Linux/UNIX"
  instance_match_criteria = "targeted"
  ebs_optimized           = true
  placement_group_arn     = one(aws_placement_group.pool[*].arn)
  end_date_type           = var.reservation_end == null ? "unlimited" : "limited"
  end_date                = var.reservation_end
  tags                    = local.tags

  lifecycle {
    precondition {
      condition     = var.purchase_option == "on_demand" && var.capacity_reservation_id == null
      error_message = "reserve_capacity is for on_demand nodes without a capacity_reservation_id."
    }

    precondition {
      condition     = length(local.subnet_ids) == 1 && length(var.alternative_instance_types) == 0
      error_message = "reserve_capacity holds one instance type in one zone: give one subnet and no alternative types."
    }

    precondition {
      condition     = local.node_count > 0
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
