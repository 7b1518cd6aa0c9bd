locals {
  plan_labels = {
    plan      = var.plan_id
    workloads = join("-", var.workloads)
    team      = join("-", var.teams)
  }
  # Common versions for JAX and PyTorch: https://cloud.google.com/tpu/docs/runtimes
  runtime_versions = {
    v2        = "tpu-ubuntu2204-base"
    v3        = "tpu-ubuntu2204-base"
    v4        = "tpu-ubuntu2204-base"
    v5litepod = "v2-alpha-tpuv5-lite"
    v5p       = "v2-alpha-tpuv5"
    v6e       = "v2-alpha-tpuv6e"
  }
  generation      = split("-", var.accelerator_type)[0]
  runtime_version = coalesce(var.runtime_version, local.runtime_versions[local.generation])

  # A slice's name counts cores, two a chip, up to v4 and for v5p; chips for v5e and v6e. A topology counts chips.
  count_in_name  = tonumber(split("-", var.accelerator_type)[1])
  chips          = contains(["v5litepod", "v6e"], local.generation) ? local.count_in_name : local.count_in_name / 2
  topology_sides = [for side in split("x", coalesce(var.topology, "1")) : tonumber(side)]
  topology_chips = local.topology_sides[0] * try(local.topology_sides[1], 1) * try(local.topology_sides[2], 1)
  topology_type  = local.generation == "v5litepod" ? "V5LITE_POD" : upper(local.generation)
}

resource "google_tpu_v2_vm" "node" {
  count = var.queued ? 0 : local.node_count

  provider = google-beta

  name             = "${var.name}-${count.index}"
  description      = "Node ${count.index} of ${var.name}"
  project          = var.project
  zone             = var.zone
  accelerator_type = var.topology == null ? var.accelerator_type : null
  runtime_version  = local.runtime_version
  labels           = local.labels

  metadata = merge(
    local.startup_scripts[count.index] == null ? {} : { startup-script = local.startup_scripts[count.index] },
    local.ends[count.index] == null ? {} : {
      end-at     = local.ends[count.index]
      slice-name = "projects/${var.project}/locations/${var.zone}/nodes/${var.name}-${count.index}"
    },
  )

  dynamic "accelerator_config" {
    for_each = var.topology[*]

    content {
      type     = local.topology_type
      topology = accelerator_config.value
    }
  }

  network_config {
    network             = var.network
    subnetwork          = var.subnetwork
    enable_external_ips = false
  }

  scheduling_config {
    spot     = var.purchase_option == "spot"
    reserved = var.reserved
  }

  shielded_instance_config {
    enable_secure_boot = var.secure_boot
  }

  dynamic "service_account" {
    for_each = var.service_account_email[*]

    content {
      email = service_account.value
      scope = ["https://www.googleapis.com/auth/cloud-platform"]
    }
  }

  lifecycle {
    precondition {
      condition     = var.topology == null || local.topology_chips == local.chips
      error_message = "The topology has ${local.topology_chips} chips and ${var.accelerator_type} has ${local.chips}."
    }

    precondition {
      condition     = !var.reserved || var.purchase_option == "on_demand"
      error_message = "Spot slices cannot start in a reservation."
    }

    precondition {
      condition     = var.startup_script == null || var.container_image == null
      error_message = "Give startup_script or container_image, not both."
    }
  }
}

# A queued resource waits until its slice can start. In this provider line it takes none of what the preconditions name, so
# that its slice cannot end by itself: it ends at an apply.
resource "google_tpu_v2_queued_resource" "node" {
  count = var.queued ? local.node_count : 0

  provider = google-beta

  name    = "${var.name}-${count.index}"
  project = var.project
  zone    = var.zone

  tpu {
    node_spec {
      parent  = "projects/${var.project}/locations/${var.zone}"
      node_id = "${var.name}-${count.index}"

      node {
        description      = "Node ${count.index} of ${var.name} for plan ${local.labels["plan"]}"
        accelerator_type = var.accelerator_type
        runtime_version  = local.runtime_version

        network_config {
          network             = var.network
          subnetwork          = var.subnetwork
          enable_external_ips = false
        }
      }
    }
  }

  lifecycle {
    precondition {
      condition     = var.purchase_option == "on_demand" && !var.reserved
      error_message = "A queued slice is started on demand: this provider line has no way to ask for spot or a reservation."
    }

    precondition {
      condition     = var.topology == null && var.startup_script == null && var.container_image == null && var.service_account_email == null && !var.secure_boot
      error_message = "A queued slice takes no topology, service account, secure boot, startup script or container in this provider line."
    }
  }
}
