locals {
  plan_labels = {
    plan      = var.plan_id
    workloads = join("-", var.workloads)
    team      = join("-", var.teams)
  }
  spot     = var.purchase_option == "spot"
  flex     = var.purchase_option == "flex_start"
  zonal    = length(var.zones) == 1 && !local.flex
  regional = !local.zonal && !local.flex
  # A group in several zones takes the schedule at each apply.
  scheduled = local.zonal && length(var.schedule) > 0
  place     = { project = var.project, region = var.region, zone = one(slice(var.zones, 0, min(1, length(var.zones)))) }
  # Machines with RDMA are placed by a policy of the group, all others by one of their template.
  is_placed_by_group = local.is_gang && local.fabric.rdma > 0
  # In a reservation nodes lie where it does: with a policy of their own they match it only if it has that policy.
  # https://github.com/GoogleCloudPlatform/cluster-toolkit, community/modules/compute/schedmd-slurm-gcp-v5-partition
  is_reserved = var.reservation != null || contains(["reservation", "calendar"], var.purchase_option)
  is_compact  = coalesce(var.compact_placement, local.is_gang && !local.is_placed_by_group && !local.is_reserved)
  group_id = one(concat(
    google_compute_region_instance_group_manager.pool[*].id,
    google_compute_instance_group_manager.pool[*].id,
    google_compute_instance_group_manager.flex[*].id,
  ))
}

resource "google_compute_instance_template" "pool" {
  name_prefix  = "${var.name}-"
  description  = "Nodes of ${var.name}"
  project      = var.project
  region       = var.region
  machine_type = var.machine_type
  labels       = local.labels

  # cloud-init reads user-data; the startup script runs at every boot.
  metadata = merge({
    block-project-ssh-keys = "true"
    enable-oslogin         = "TRUE"
  }, { user-data = local.node_data })
  metadata_startup_script = var.startup_script
  resource_policies       = local.is_compact ? google_compute_resource_policy.pool[*].id : null

  disk {
    boot         = true
    auto_delete  = true
    source_image = var.image
    disk_type    = var.boot_disk_type
    disk_size_gb = var.boot_disk_gb
    labels       = local.labels

    dynamic "disk_encryption_key" {
      for_each = var.kms_key[*]

      content {
        kms_key_self_link = disk_encryption_key.value
      }
    }
  }

  dynamic "guest_accelerator" {
    for_each = var.accelerator_type[*]

    content {
      type  = guest_accelerator.value
      count = var.accelerator_count
    }
  }

  # Without an access_config block there is no external address. Accelerator-optimised machines have Google's own
  # interface only; N1 has it in images that know it.
  network_interface {
    subnetwork = var.subnetwork
    nic_type   = startswith(var.machine_type, "n1-") ? null : "GVNIC"
  }

  dynamic "network_interface" {
    for_each = local.interfaces

    content {
      network    = network_interface.value.network
      subnetwork = network_interface.value.subnetwork
      nic_type   = network_interface.value.type
    }
  }

  # A machine with an accelerator cannot be moved to another host while it runs.
  scheduling {
    on_host_maintenance         = "TERMINATE"
    automatic_restart           = !local.spot && !local.flex
    preemptible                 = local.spot
    provisioning_model          = lookup(local.provisioning_models, var.purchase_option, "STANDARD")
    instance_termination_action = lookup(local.termination_actions, var.purchase_option, null)

    dynamic "max_run_duration" {
      for_each = local.flex ? [floor(var.flex_start_hours * 3600)] : []

      content {
        seconds = max_run_duration.value
      }
    }
  }

  dynamic "reservation_affinity" {
    for_each = local.affinity[*]

    content {
      type = reservation_affinity.value

      dynamic "specific_reservation" {
        for_each = var.reservation[*]

        content {
          key    = "compute.googleapis.com/reservation-name"
          values = [specific_reservation.value]
        }
      }
    }
  }

  shielded_instance_config {
    enable_secure_boot          = var.secure_boot
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }

  dynamic "service_account" {
    for_each = var.service_account_email[*]

    content {
      email  = service_account.value
      scopes = ["cloud-platform"]
    }
  }

  # Nodes that start before what is reserved for them would need room twice.
  depends_on = [google_compute_reservation.pool]

  lifecycle {
    create_before_destroy = true

    precondition {
      condition     = startswith(var.machine_type, "n1-") == (var.accelerator_type != null)
      error_message = "An N1 machine needs accelerator_type; every other machine type brings its accelerators and takes none."
    }

    precondition {
      condition     = alltrue([for zone in var.zones : startswith(zone, "${var.region}-")])
      error_message = "zones must lie in the region."
    }

    precondition {
      condition     = var.startup_script == null || var.container_image == null
      error_message = "Give startup_script or container_image, not both."
    }

    precondition {
      condition     = !local.is_compact && !local.is_gang || length(var.zones) == 1
      error_message = "Nodes that are close together or share a job lie in one zone: give one zone."
    }

    precondition {
      condition     = !local.is_compact || !var.reserve_capacity
      error_message = "In this provider line a reservation takes no placement: choose compact_placement or reserve_capacity."
    }

    precondition {
      condition     = var.reservation == null || !contains(["spot", "flex_start"], var.purchase_option)
      error_message = "Spot and flex_start nodes cannot start in a reservation."
    }

    precondition {
      condition     = !local.flex || (length(var.zones) == 1 && !var.reserve_capacity)
      error_message = "flex_start is for nodes in one zone without a reservation."
    }

    precondition {
      condition     = !contains(["reservation", "calendar"], var.purchase_option) || (var.reservation != null && length(var.zones) == 1) || var.node_count == 0
      error_message = "purchase_option reservation and calendar need the reservation, and its zone."
    }
  }
}

# https://docs.cloud.google.com/ai-hypercomputer/docs/workload-policy
resource "google_compute_resource_policy" "group" {
  count = local.is_placed_by_group ? 1 : 0

  name        = "${var.name}-group"
  description = "Nodes of ${var.name}, in one block of the network"
  project     = var.project
  region      = var.region

  workload_policy {
    type = "HIGH_THROUGHPUT"
  }
}

resource "google_compute_resource_policy" "pool" {
  count = local.is_compact ? 1 : 0

  name        = var.name
  description = "Nodes of ${var.name}, close together"
  project     = var.project
  region      = var.region

  group_placement_policy {
    collocation = "COLLOCATED"
  }
}

resource "google_compute_instance_group_manager" "pool" {
  count = local.zonal ? 1 : 0

  name               = var.name
  base_instance_name = var.name
  project            = var.project
  zone               = var.zones[0]
  target_size        = local.scheduled ? null : local.node_count

  version {
    instance_template = google_compute_instance_template.pool.self_link_unique
  }

  dynamic "auto_healing_policies" {
    for_each = var.health_check[*]

    content {
      health_check      = auto_healing_policies.value
      initial_delay_sec = 900
    }
  }

  dynamic "resource_policies" {
    for_each = google_compute_resource_policy.group

    content {
      workload_policy = resource_policies.value.id
    }
  }
}

resource "google_compute_region_instance_group_manager" "pool" {
  count = local.regional ? 1 : 0

  name                             = var.name
  base_instance_name               = var.name
  project                          = var.project
  region                           = var.region
  target_size                      = local.node_count
  distribution_policy_zones        = length(var.zones) > 0 ? var.zones : null
  distribution_policy_target_shape = "ANY"

  version {
    instance_template = google_compute_instance_template.pool.self_link_unique
  }

  dynamic "auto_healing_policies" {
    for_each = var.health_check[*]

    content {
      health_check      = auto_healing_policies.value
      initial_delay_sec = 900
    }
  }

  # The shape ANY takes nodes where they are to be had, and allows no redistribution.
  update_policy {
    type                         = "OPPORTUNISTIC"
    minimal_action               = "REPLACE"
    instance_redistribution_type = "NONE"
  }
}
