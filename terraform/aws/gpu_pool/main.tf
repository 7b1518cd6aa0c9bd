locals {
  # Tag keys and values hold letters, digits, spaces and + - = . _ : / @, at most 128 and 256 of them.
  told = merge({
    plan      = var.plan_id
    workloads = join(" ", var.workloads)
    team      = join(" ", var.teams)
  }, var.tags, { Name = var.name, managed_by = "terraform" })
  same_key = {
    for key, text in local.told :
    substr(replace(replace(key, "/[^\\pL\\pN +=._:/@-]/", "_"), "/^(?i:aws):/", "aws_"), 0, 128) =>
    substr(replace(text, "/[^\\pL\\pN +=._:/@-]/", "_"), 0, 256)...
    if key != "" && text != ""
  }
  tags = { for key, texts in local.same_key : key => texts[0] }

  instance_types  = concat([var.instance_type], var.alternative_instance_types)
  image_id        = coalesce(var.ami_id, one(data.aws_ssm_parameter.image[*].insecure_value))
  is_block        = var.purchase_option == "capacity_block"
  spot_fraction   = var.purchase_option == "spot" ? var.spot_fraction : 0
  is_gang         = var.gang_nodes > 1
  placement_group = coalesce(var.placement_group, (local.is_gang || local.efa_count > 0 && length(var.subnet_ids) == 1) && !local.is_block)

  # A placement group and EFA end at the zone: nodes of one job take the first subnet only.
  subnet_ids = local.is_gang ? slice(var.subnet_ids, 0, 1) : var.subnet_ids
}

data "aws_ssm_parameter" "image" {
  count = var.ami_id == null ? 1 : 0

  name = var.image_parameter
}

resource "aws_launch_template" "pool" {
  name_prefix            = "${var.name}-"
  description            = "Nodes of ${var.name}"
  image_id               = local.image_id
  instance_type          = var.instance_type
  ebs_optimized          = true
  update_default_version = true
  user_data              = base64encode(local.user_data)
  tags                   = local.tags

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  monitoring {
    enabled = true
  }

  block_device_mappings {
    device_name = var.root_device_name

    ebs {
      volume_type           = "gp3"
      volume_size           = var.root_volume_gib
      encrypted             = true
      kms_key_id            = var.kms_key_id
      delete_on_termination = true
    }
  }

  # With several interfaces EC2 gives no public address and refuses to be told so.
  dynamic "network_interfaces" {
    for_each = local.interfaces

    content {
      network_card_index          = network_interfaces.value.card
      device_index                = network_interfaces.value.device
      interface_type              = network_interfaces.value.type
      associate_public_ip_address = length(local.interfaces) == 1 ? false : null
      delete_on_termination       = true
      security_groups             = [aws_security_group.pool.id]
    }
  }

  dynamic "iam_instance_profile" {
    for_each = var.instance_profile_name[*]

    content {
      name = iam_instance_profile.value
    }
  }

  dynamic "placement" {
    for_each = aws_placement_group.pool

    content {
      group_name = placement.value.name
    }
  }

  dynamic "instance_market_options" {
    for_each = local.is_block ? [1] : []

    content {
      market_type = "capacity-block"
    }
  }

  dynamic "capacity_reservation_specification" {
    for_each = local.reserved ? [1] : []

    content {
      capacity_reservation_target {
        capacity_reservation_id = local.reservation_id
      }
    }
  }

  dynamic "tag_specifications" {
    for_each = ["instance", "volume", "network-interface"]

    content {
      resource_type = tag_specifications.value
      tags          = local.tags
    }
  }

  lifecycle {
    create_before_destroy = true

    precondition {
      condition     = !local.is_block || local.reserved || var.node_count == 0
      error_message = "purchase_option capacity_block needs capacity_reservation_id, or buy_capacity_block to buy one."
    }

    precondition {
      condition     = var.purchase_option != "spot" || !local.reserved
      error_message = "Spot nodes cannot start in a capacity reservation."
    }

    precondition {
      condition     = !local.placement_group || length(local.subnet_ids) == 1
      error_message = "A placement group lies in one zone: give one subnet."
    }

    precondition {
      condition     = var.user_data == null || var.container_image == null
      error_message = "Give user_data or container_image, not both."
    }

    precondition {
      condition     = !var.repair_nodes || (var.instance_profile_name != null && local.devices == "nvidia" && var.user_data == null)
      error_message = "repair_nodes is for NVIDIA GPUs, with instance_profile_name and without user_data."
    }

    precondition {
      condition     = var.container_image == null || local.devices != null
      error_message = "container_image is for NVIDIA GPUs, Trainium and Inferentia: start other devices in user_data."
    }

    precondition {
      condition     = length(local.user_data) <= 16384
      error_message = "EC2 takes at most 16 KiB of user data."
    }
  }
}

resource "aws_autoscaling_group" "pool" {
  name                = var.name
  min_size            = 0
  max_size            = local.largest_count
  desired_capacity    = local.node_count
  vpc_zone_identifier = local.subnet_ids
  health_check_type   = "EC2"
  capacity_rebalance  = local.spot_fraction > 0 && !local.is_gang
  # Nodes that are moved for the balance of zones take the whole job down with them.
  suspended_processes = local.is_gang ? ["AZRebalance"] : null

  dynamic "instance_refresh" {
    for_each = var.refresh_nodes ? [1] : []

    content {
      strategy = "Rolling"

      preferences {
        min_healthy_percentage = 0
        skip_matching          = true
      }
    }
  }

  # GPU capacity is often short: the apply must not wait for it, nor fail on it.
  wait_for_capacity_timeout = "0"

  dynamic "mixed_instances_policy" {
    for_each = local.is_block ? [] : [1]

    content {
      instances_distribution {
        on_demand_base_capacity                  = var.purchase_option == "spot" ? var.on_demand_base_count : 0
        on_demand_percentage_above_base_capacity = 100 - floor(100 * local.spot_fraction)
        on_demand_allocation_strategy            = "prioritized"
        spot_allocation_strategy                 = "capacity-optimized"
        spot_max_price                           = var.spot_max_price
      }

      launch_template {
        launch_template_specification {
          launch_template_id = aws_launch_template.pool.id
          version            = aws_launch_template.pool.latest_version
        }

        dynamic "override" {
          for_each = local.instance_types

          content {
            instance_type = override.value
          }
        }
      }
    }
  }

  dynamic "launch_template" {
    for_each = local.is_block ? [1] : []

    content {
      id      = aws_launch_template.pool.id
      version = aws_launch_template.pool.latest_version
    }
  }

  dynamic "tag" {
    for_each = local.tags

    content {
      key                 = tag.key
      value               = tag.value
      propagate_at_launch = true
    }
  }
}
