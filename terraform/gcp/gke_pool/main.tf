locals {
  plan_labels = {
    plan      = var.plan_id
    workloads = join("-", var.workloads)
    team      = join("-", var.teams)
  }
  # Kubernetes takes no more than Google does of a label's value, and wants a letter or digit at both ends.
  node_labels = {
    for key in ["plan", "team"] : "gpu-planner/${key}" => trim(local.labels[key], "-_") if contains(keys(local.labels), key)
  }
  place = {
    project = local.cluster[0]
    region  = join("-", slice(split("-", var.zone), 0, 2))
    zone    = var.zone
  }
  # In a reservation nodes lie where it does: with a policy of their own they match it only if it has that policy.
  is_reserved = var.reservation != null || contains(["reservation", "calendar"], var.purchase_option)
  is_compact  = coalesce(var.compact_placement, local.is_gang && !local.tpu && !local.is_reserved)
  cluster     = regex("^projects/([^/]+)/locations/([^/]+)/clusters/([^/]+)$", var.cluster_id)
  tpu         = can(regex("^(ct|tpu)\\d", var.machine_type))
  # A slice over several machines is a node pool of its own, of all its machines: GKE makes, repairs and scales it as a whole.
  # https://docs.cloud.google.com/kubernetes-engine/docs/concepts/tpus
  sides     = [for side in split("x", coalesce(var.tpu_topology, "1")) : tonumber(side)]
  chips     = local.sides[0] * try(local.sides[1], 1) * try(local.sides[2], 1)
  hosts     = local.tpu && var.tpu_topology != null ? local.chips / tonumber(try(regex("(\\d+)t$", var.machine_type)[0], 1)) : 1
  is_sliced = local.hosts > 1
  pools     = !local.is_sliced ? 1 : local.autoscaled ? var.node_count : local.node_count
  # What an N1 machine is given, or what the machine type brings.
  accelerator = (
    var.accelerator_type != null ? [{ type = var.accelerator_type, count = var.accelerator_count }] :
    local.tpu || local.brought == null ? [] : [{ type = local.family.accelerator, count = local.brought.accelerators }]
  )
  flex = var.queued || var.purchase_option == "flex_start"
  # Pods start its nodes, at most those of the month; a month without nodes has none whatever pods ask for.
  autoscaled = (local.flex || var.scale_to_zero) && var.node_count > 0
  # Disks of 375 GB that the machine brings; on N1 those that are asked for.
  brought_ssd_gib = try(local.brought.ssd_gib, null) == null ? 0 : local.brought.ssd_gib
  local_ssd_count = try(coalesce(var.local_ssd_count, local.brought_ssd_gib > 0 ? local.brought_ssd_gib / 375 : null), null)
  affinity        = local.flex ? "NO_RESERVATION" : var.reservation != null ? "SPECIFIC_RESERVATION" : null
}

resource "google_container_node_pool" "pool" {
  count = local.pools

  name           = local.is_sliced ? "${var.name}-${count.index}" : var.name
  project        = local.cluster[0]
  location       = local.cluster[1]
  cluster        = local.cluster[2]
  node_locations = [var.zone]
  node_count     = local.autoscaled ? null : local.is_sliced ? local.hosts : local.node_count

  # Dynamic Workload Scheduler starts nodes only for a ProvisioningRequest, all of it at once:
  # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest
  initial_node_count = local.autoscaled ? 0 : null

  dynamic "autoscaling" {
    for_each = local.autoscaled ? [1] : []

    content {
      total_min_node_count = 0
      total_max_node_count = local.is_sliced ? local.hosts : var.node_count
      location_policy      = "ANY"
    }
  }

  dynamic "queued_provisioning" {
    for_each = var.queued ? [1] : []

    content {
      enabled = true
    }
  }

  dynamic "placement_policy" {
    for_each = local.is_compact || var.tpu_topology != null ? [1] : []

    content {
      type         = "COMPACT"
      tpu_topology = var.tpu_topology
    }
  }

  management {
    auto_repair  = local.flex ? false : true
    auto_upgrade = true
  }

  # A replacement before its predecessor is gone would need capacity that nobody planned.
  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 0
    max_unavailable = 1
  }

  network_config {
    enable_private_nodes = true

    dynamic "additional_node_network_configs" {
      for_each = local.interfaces

      content {
        network    = additional_node_network_configs.value.network
        subnetwork = additional_node_network_configs.value.subnetwork
      }
    }
  }

  node_config {
    machine_type      = var.machine_type
    image_type        = "COS_CONTAINERD"
    spot              = var.purchase_option == "spot"
    flex_start        = local.flex
    disk_type         = var.boot_disk_type
    disk_size_gb      = var.boot_disk_gb
    boot_disk_kms_key = var.kms_key
    service_account   = var.service_account_email
    oauth_scopes      = ["https://www.googleapis.com/auth/cloud-platform"]
    labels            = { for key, text in local.node_labels : key => text if text != "" }
    resource_labels   = local.labels

    metadata = {
      disable-legacy-endpoints = "true"
    }

    dynamic "guest_accelerator" {
      for_each = local.accelerator

      content {
        type  = guest_accelerator.value.type
        count = guest_accelerator.value.count

        gpu_driver_installation_config {
          gpu_driver_version = var.gpu_driver_version
        }
      }
    }

    gvnic {
      enabled = !startswith(var.machine_type, "n1-")
    }

    dynamic "ephemeral_storage_local_ssd_config" {
      for_each = local.local_ssd_count[*]

      content {
        local_ssd_count = ephemeral_storage_local_ssd_config.value
      }
    }

    dynamic "reservation_affinity" {
      for_each = local.affinity[*]

      content {
        consume_reservation_type = reservation_affinity.value
        key                      = var.reservation == null ? null : "compute.googleapis.com/reservation-name"
        values                   = var.reservation[*]
      }
    }

    # Pods that ask for no accelerator stay away. GKE keeps them away from TPUs by itself.
    dynamic "taint" {
      for_each = concat(
        local.tpu ? [] : [{ key = "nvidia.com/gpu", value = "present", effect = "NO_SCHEDULE" }],
        var.taints,
      )

      content {
        key    = taint.value.key
        value  = taint.value.value
        effect = taint.value.effect
      }
    }

    # Pods get their rights from Workload Identity, not from the node.
    workload_metadata_config {
      mode = "GKE_METADATA"
    }

    shielded_instance_config {
      enable_secure_boot          = var.secure_boot
      enable_integrity_monitoring = true
    }
  }

  lifecycle {
    precondition {
      condition     = local.tpu || startswith(var.machine_type, "n1-") == (var.accelerator_type != null)
      error_message = "An N1 machine needs accelerator_type; every other machine type brings its accelerators and takes none."
    }

    precondition {
      condition     = local.tpu || var.accelerator_type != null || local.brought != null
      error_message = "Which accelerators ${var.machine_type} brings is not known here."
    }

    precondition {
      condition     = startswith(var.zone, local.cluster[1])
      error_message = "zone must lie in the cluster's location, ${local.cluster[1]}."
    }

    precondition {
      condition     = !local.is_sliced || (local.hosts == floor(local.hosts) && length(var.name) <= 36)
      error_message = "tpu_topology is a whole number of machines, with a name of at most 36 characters for its slices."
    }

    precondition {
      condition     = var.tpu_topology == null || local.tpu
      error_message = "tpu_topology is for TPU machines."
    }

    precondition {
      condition     = !var.queued || (contains(["on_demand", "flex_start"], var.purchase_option) && var.reservation == null)
      error_message = "queued is for on_demand and flex_start nodes without a reservation."
    }

    precondition {
      condition     = var.reservation == null || !contains(["spot", "flex_start"], var.purchase_option)
      error_message = "Spot and flex_start nodes cannot start in a reservation."
    }

    precondition {
      condition     = !contains(["reservation", "calendar"], var.purchase_option) || var.reservation != null || var.node_count == 0
      error_message = "purchase_option reservation and calendar need the reservation."
    }
  }
}
