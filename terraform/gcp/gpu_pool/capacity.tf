# Capacity that waits for nodes, is paid for without them, or binds for years: nothing here is made unless its variable asks.
locals {
  # https://docs.cloud.google.com/compute/docs/instances/provisioning-models; nodes of dated days end with them.
  provisioning_models = { spot = "SPOT", calendar = "RESERVATION_BOUND", flex_start = "FLEX_START" }
  termination_actions = { spot = var.termination_action, calendar = "DELETE", flex_start = "DELETE" }

  month    = try("${formatdate("YYYYMM", sort(var.schedule[*].start)[0])}-", "")
  affinity = local.flex ? "NO_RESERVATION" : var.reservation != null ? "SPECIFIC_RESERVATION" : null
  reserved = coalesce(var.reserved_node_count, var.node_count)

  # N1 machines: 3.75 GB of memory a vCPU, highmem 6.5 (https://docs.cloud.google.com/compute/docs/general-purpose-machines).
  n1 = try(regex("^n1-(standard|highmem)-(\\d+)$", var.machine_type), null)
  committed = local.n1 != null ? {
    accelerators = var.accelerator_count
    vcpus        = tonumber(local.n1[1])
    memory_gib   = tonumber(local.n1[1]) * (local.n1[0] == "highmem" ? 6.5 : 3.75)
    ssd_gib      = 0
  } : local.brought
  committed_type   = local.n1 != null ? var.accelerator_type : try(local.family.accelerator, null)
  committed_series = local.n1 != null ? "GENERAL_PURPOSE" : try(local.family.series, null)
  can_commit       = local.committed_type != null && try(local.committed.ssd_gib, null) != null
}

# Dynamic Workload Scheduler, flex start: the request waits until all nodes can start together, and they run for the time
# that was asked for. https://docs.cloud.google.com/compute/docs/instance-groups/about-resize-requests-mig
resource "google_compute_instance_group_manager" "flex" {
  count = local.flex ? 1 : 0

  name               = var.name
  base_instance_name = var.name
  project            = var.project
  zone               = var.zones[0]
  wait_for_instances = false

  version {
    instance_template = google_compute_instance_template.pool.self_link_unique
  }

  instance_lifecycle_policy {
    default_action_on_failure = "DO_NOTHING"
  }

  dynamic "resource_policies" {
    for_each = google_compute_resource_policy.group

    content {
      workload_policy = resource_policies.value.id
    }
  }

  # The requests and the end of the nodes' time change the size.
  lifecycle {
    ignore_changes = [target_size]
  }
}

resource "google_compute_resize_request" "pool" {
  count = local.flex && var.node_count > 0 ? 1 : 0

  # A request is fulfilled once: the next month has its own.
  name                   = "${var.name}-${local.month}${var.node_count}x${floor(var.flex_start_hours * 60)}m"
  description            = "Nodes of ${var.name} for plan ${local.labels["plan"]}"
  project                = var.project
  zone                   = var.zones[0]
  instance_group_manager = google_compute_instance_group_manager.flex[0].name
  resize_by              = var.node_count

  requested_run_duration {
    seconds = floor(var.flex_start_hours * 3600)
  }
}

# Nodes take what is reserved for their machine type by themselves, and start beside it when there are more of them.
resource "google_compute_reservation" "pool" {
  count = var.reserve_capacity ? 1 : 0

  name                          = var.name
  description                   = "Nodes of ${var.name}"
  project                       = var.project
  zone                          = try(var.zones[0], "")
  specific_reservation_required = false

  specific_reservation {
    count = local.reserved

    instance_properties {
      machine_type = var.machine_type

      dynamic "guest_accelerators" {
        for_each = var.accelerator_type[*]

        content {
          accelerator_type  = guest_accelerators.value
          accelerator_count = var.accelerator_count
        }
      }
    }
  }

  lifecycle {
    precondition {
      condition     = length(var.zones) == 1
      error_message = "reserve_capacity holds nodes in one zone: give one zone."
    }

    precondition {
      condition     = var.purchase_option == "on_demand" && var.reservation == null
      error_message = "reserve_capacity is for on_demand nodes without a reservation."
    }

    precondition {
      condition     = local.reserved > 0
      error_message = "reserve_capacity needs reserved_node_count, or a node_count above 0."
    }
  }
}

# A commitment for accelerators needs a reservation of the same machines attached to it, and nobody takes it back: it can be
# neither replaced nor destroyed here. `terraform state rm` forgets it when its years are over.
resource "google_compute_region_commitment" "pool" {
  count = var.buy_commitment ? 1 : 0

  name                  = var.name
  description           = "Nodes of ${var.name}"
  project               = var.project
  region                = var.region
  plan                  = var.commitment_years == 3 ? "THIRTY_SIX_MONTH" : "TWELVE_MONTH"
  type                  = local.committed_series
  category              = "MACHINE"
  auto_renew            = false
  existing_reservations = one(google_compute_reservation.pool[*].id)

  resources {
    type   = "VCPU"
    amount = try(tostring(local.reserved * local.committed.vcpus), null)
  }

  # In MB of 2^20 bytes, as the API counts.
  resources {
    type   = "MEMORY"
    amount = try(tostring(local.reserved * local.committed.memory_gib * 1024), null)
  }

  resources {
    type             = "ACCELERATOR"
    accelerator_type = local.committed_type
    amount           = try(tostring(local.reserved * local.committed.accelerators), null)
  }

  dynamic "resources" {
    for_each = try(local.committed.ssd_gib > 0, false) ? [local.committed.ssd_gib] : []

    content {
      type   = "LOCAL_SSD"
      amount = tostring(local.reserved * resources.value)
    }
  }

  lifecycle {
    prevent_destroy = true

    precondition {
      condition     = var.reserve_capacity && var.reserved_node_count != null
      error_message = "buy_commitment needs reserve_capacity and reserved_node_count: the same nodes in every month."
    }

    precondition {
      condition     = local.can_commit
      error_message = "What a commitment for this machine type covers is not known here: buy it in the console."
    }
  }
}
