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

  # Label values hold letters, digits and - _ ., at most 63 of them, and start and end with a letter or digit.
  label_text = { for key in ["plan", "team"] : key => lookup(local.told, key, "") }
  label_values = {
    for key, text in local.label_text :
    key => trim(substr(trim(replace(text, "/[^A-Za-z0-9_.-]/", "-"), "-_."), 0, 63), "-_.")
  }
  labels = merge({ for key, text in local.label_values : "gpu-planner/${key}" => text if text != "" }, var.labels)

  instance_types  = concat([var.instance_type], var.alternative_instance_types)
  is_block        = var.purchase_option == "capacity_block"
  is_gang         = var.gang_nodes > 1
  placement_group = coalesce(var.placement_group, (local.is_gang || local.efa_count > 0 && length(var.subnet_ids) == 1) && !local.is_block)

  # A placement group and EFA end at the zone: nodes of one job take the first subnet only.
  subnet_ids = local.is_gang ? slice(var.subnet_ids, 0, 1) : var.subnet_ids

  # EKS adds its own part to this one. The disks in the node become one file system (RAID 0) for pods and images; a node
  # without any takes none. LocalStorageStrategy is RAID0, RAID10 or Mount: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api
  node_config = join("\n", [
    "MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=\"part\"", "", "--part",
    "Content-Type: application/node.eks.aws", "",
    yamlencode({
      apiVersion = "node.eks.aws/v1alpha1"
      kind       = "NodeConfig"
      spec       = { instance = { localStorage = { strategy = "RAID0" } } }
    }),
    "--part--", "",
  ])
  device = endswith(var.ami_type, "_NEURON") ? "aws.amazon.com/neuron" : "nvidia.com/gpu"
}

data "aws_eks_cluster" "this" {
  name = var.cluster_name
}

resource "aws_placement_group" "pool" {
  count = local.placement_group ? 1 : 0

  name     = var.name
  strategy = "cluster"
  tags     = local.tags
}

resource "aws_launch_template" "pool" {
  name_prefix            = "${var.name}-"
  description            = "Nodes of ${var.name}"
  instance_type          = local.is_block ? var.instance_type : null
  ebs_optimized          = true
  update_default_version = true
  user_data              = base64encode(local.node_config)
  tags                   = local.tags

  # One hop: pods get their rights from EKS Pod Identity, not from the node.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  monitoring {
    enabled = true
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      volume_type           = "gp3"
      volume_size           = var.root_volume_gib
      encrypted             = true
      kms_key_id            = var.kms_key_id
      delete_on_termination = true
    }
  }

  # The cluster's own security group lets nodes reach each other, with the rule to itself that EFA needs.
  # With several interfaces EC2 gives no public address and refuses to be told so.
  dynamic "network_interfaces" {
    for_each = local.interfaces

    content {
      network_card_index          = network_interfaces.value.card
      device_index                = network_interfaces.value.device
      interface_type              = network_interfaces.value.type
      associate_public_ip_address = length(local.interfaces) == 1 ? false : null
      delete_on_termination       = true
      security_groups             = [data.aws_eks_cluster.this.vpc_config[0].cluster_security_group_id]
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
      condition     = !local.is_block || var.capacity_reservation_id != null || var.node_count == 0
      error_message = "purchase_option capacity_block needs capacity_reservation_id: the capacity block, bought already."
    }

    precondition {
      condition     = !local.is_block || length(var.alternative_instance_types) == 0
      error_message = "A capacity block holds one instance type: give no alternative types."
    }

    precondition {
      condition     = var.purchase_option != "spot" || var.capacity_reservation_id == null
      error_message = "Spot nodes cannot start in a capacity reservation."
    }

    precondition {
      condition     = !local.placement_group || length(local.subnet_ids) == 1
      error_message = "A placement group lies in one zone: give one subnet."
    }
  }
}

resource "aws_eks_node_group" "pool" {
  cluster_name    = data.aws_eks_cluster.this.name
  node_group_name = var.name
  node_role_arn   = var.node_role_arn
  subnet_ids      = local.subnet_ids
  ami_type        = var.ami_type
  capacity_type   = upper(var.purchase_option)
  instance_types  = local.is_block ? null : local.instance_types
  labels          = local.labels
  tags            = local.tags

  # EKS takes no maximum below 1.
  scaling_config {
    min_size     = 0
    desired_size = local.node_count
    max_size     = max(1, local.largest_count)
  }

  launch_template {
    id      = aws_launch_template.pool.id
    version = aws_launch_template.pool.latest_version
  }

  dynamic "taint" {
    for_each = var.taint ? [1] : []

    content {
      key    = local.device
      value  = "present"
      effect = "NO_SCHEDULE"
    }
  }

  node_repair_config {
    enabled = true
  }

  update_config {
    max_unavailable = 1
  }
}
