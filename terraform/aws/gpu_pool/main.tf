locals {
  # Tag values hold letters, digits, spaces and + - = . _ : / @, at most 256 of them.
  tag_text = {
    plan      = var.plan_id
    workloads = join(" ", var.workloads)
    team      = join(" ", var.teams)
  }
  tags = merge(
    { for key, text in local.tag_text : key => substr(replace(text, "/[^\\pL\\pN +=._:/@-]/", "_"), 0, 256) if text != "" },
    { Name = var.name, managed_by = "terraform" },
    var.tags,
  )
  image_id       = coalesce(var.ami_id, one(data.aws_ssm_parameter.image[*].insecure_value))
  max_node_count = max(var.node_count, coalesce(var.max_node_count, var.node_count))
  mixed          = var.purchase_option != "capacity_block"
  # Interface 0 carries the node's traffic; the further EFA interfaces sit on a network card each and carry no IP.
  interfaces = [for index in range(max(1, var.efa_interface_count)) : {
    card   = index
    device = index == 0 ? 0 : 1
    type   = var.efa_interface_count == 0 ? "interface" : index == 0 ? "efa" : "efa-only"
  }]
}

data "aws_ssm_parameter" "image" {
  count = var.ami_id == null ? 1 : 0

  name = var.image_parameter
}

data "aws_subnet" "first" {
  id = var.subnet_ids[0]
}

resource "aws_security_group" "pool" {
  name_prefix = "${var.name}-"
  description = "Nodes of ${var.name}: in from each other only, out to anywhere."
  vpc_id      = data.aws_subnet.first.vpc_id
  tags        = local.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "self" {
  security_group_id            = aws_security_group.pool.id
  referenced_security_group_id = aws_security_group.pool.id
  ip_protocol                  = "-1"
  description                  = "Nodes of the pool reach each other"
  tags                         = local.tags
}

# EFA traffic is let out only by a rule that names the group itself.
resource "aws_vpc_security_group_egress_rule" "self" {
  security_group_id            = aws_security_group.pool.id
  referenced_security_group_id = aws_security_group.pool.id
  ip_protocol                  = "-1"
  description                  = "Nodes of the pool reach each other"
  tags                         = local.tags
}

resource "aws_vpc_security_group_egress_rule" "out" {
  security_group_id = aws_security_group.pool.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
  description       = "Images, packages and data"
  tags              = local.tags
}

resource "aws_placement_group" "pool" {
  count = var.placement_group ? 1 : 0

  name     = var.name
  strategy = "cluster"
  tags     = local.tags
}

resource "aws_launch_template" "pool" {
  name_prefix            = "${var.name}-"
  description            = "Nodes of ${var.name}"
  image_id               = local.image_id
  instance_type          = var.instance_type
  ebs_optimized          = true
  update_default_version = true
  user_data              = var.user_data == null ? null : base64encode(var.user_data)
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

  dynamic "network_interfaces" {
    for_each = local.interfaces

    content {
      network_card_index          = network_interfaces.value.card
      device_index                = network_interfaces.value.device
      interface_type              = network_interfaces.value.type
      associate_public_ip_address = network_interfaces.value.device == 0 ? false : null
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
    for_each = var.purchase_option == "capacity_block" ? [1] : []

    content {
      market_type = "capacity-block"
    }
  }

  dynamic "capacity_reservation_specification" {
    for_each = var.capacity_reservation_id[*]

    content {
      capacity_reservation_target {
        capacity_reservation_id = capacity_reservation_specification.value
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
      condition     = var.purchase_option != "capacity_block" || var.capacity_reservation_id != null
      error_message = "purchase_option capacity_block needs capacity_reservation_id: buy the capacity block first."
    }

    precondition {
      condition     = !var.placement_group || length(var.subnet_ids) == 1
      error_message = "A placement group lies in one zone: give one subnet."
    }
  }
}

resource "aws_autoscaling_group" "pool" {
  name                = var.name
  min_size            = 0
  max_size            = local.max_node_count
  desired_capacity    = var.node_count
  vpc_zone_identifier = var.subnet_ids
  health_check_type   = "EC2"
  capacity_rebalance  = var.purchase_option == "spot"

  # GPU capacity is often short: the apply must not wait for it, nor fail on it.
  wait_for_capacity_timeout = "0"

  dynamic "mixed_instances_policy" {
    for_each = local.mixed ? [1] : []

    content {
      instances_distribution {
        on_demand_base_capacity                  = var.purchase_option == "spot" ? var.on_demand_base_count : 0
        on_demand_percentage_above_base_capacity = var.purchase_option == "spot" ? 0 : 100
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
          for_each = concat([var.instance_type], var.alternative_instance_types)

          content {
            instance_type = override.value
          }
        }
      }
    }
  }

  dynamic "launch_template" {
    for_each = local.mixed ? [] : [1]

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
