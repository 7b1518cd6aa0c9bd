locals {
  # Label values hold lower-case letters, digits, _ and -, at most 63 of them.
  label_text = {
    plan      = var.plan_id
    workloads = join("-", var.workloads)
    team      = join("-", var.teams)
  }
  labels = merge(
    { for key, text in local.label_text : key => substr(replace(lower(text), "/[^a-z0-9_-]/", "-"), 0, 63) if text != "" },
    { managed_by = "terraform" },
    var.labels,
  )
  spot     = var.purchase_option == "spot"
  zonal    = length(var.zones) == 1
  group_id = local.zonal ? google_compute_instance_group_manager.pool[0].id : google_compute_region_instance_group_manager.pool[0].id
}

resource "google_compute_instance_template" "pool" {
  name_prefix  = "${var.name}-"
  description  = "Nodes of ${var.name}"
  project      = var.project
  region       = var.region
  machine_type = var.machine_type
  labels       = local.labels

  metadata = {
    block-project-ssh-keys = "true"
    enable-oslogin         = "TRUE"
  }
  metadata_startup_script = var.startup_script

  disk {
    boot         = true
    auto_delete  = true
    source_image = var.image
    disk_type    = var.boot_disk_type
    disk_size_gb = var.boot_disk_gb
    labels       = local.labels
  }

  dynamic "guest_accelerator" {
    for_each = var.accelerator_type[*]

    content {
      type  = guest_accelerator.value
      count = var.accelerator_count
    }
  }

  # Without an access_config block there is no external address.
  network_interface {
    subnetwork = var.subnetwork
  }

  # A machine with an accelerator cannot be moved to another host while it runs.
  scheduling {
    on_host_maintenance         = "TERMINATE"
    automatic_restart           = !local.spot
    preemptible                 = local.spot
    provisioning_model          = local.spot ? "SPOT" : "STANDARD"
    instance_termination_action = local.spot ? var.termination_action : null
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
  }
}

resource "google_compute_instance_group_manager" "pool" {
  count = local.zonal ? 1 : 0

  name               = var.name
  base_instance_name = var.name
  project            = var.project
  zone               = var.zones[0]
  target_size        = var.node_count

  version {
    instance_template = google_compute_instance_template.pool.self_link_unique
  }
}

resource "google_compute_region_instance_group_manager" "pool" {
  count = local.zonal ? 0 : 1

  name                             = var.name
  base_instance_name               = var.name
  project                          = var.project
  region                           = var.region
  target_size                      = var.node_count
  distribution_policy_zones        = length(var.zones) > 0 ? var.zones : null
  distribution_policy_target_shape = "ANY"

  version {
    instance_template = google_compute_instance_template.pool.self_link_unique
  }

  # The shape ANY takes nodes where they are to be had, and allows no redistribution.
  update_policy {
    type                         = "OPPORTUNISTIC"
    minimal_action               = "REPLACE"
    instance_redistribution_type = "NONE"
  }
}
