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
  # Common versions for JAX and PyTorch: https://cloud.google.com/tpu/docs/runtimes
  runtime_versions = {
    v2        = "tpu-ubuntu2204-base"
    v3        = "tpu-ubuntu2204-base"
    v4        = "tpu-ubuntu2204-base"
    v5litepod = "v2-alpha-tpuv5-lite"
    v5p       = "v2-alpha-tpuv5"
    v6e       = "v2-alpha-tpuv6e"
  }
  runtime_version = coalesce(var.runtime_version, local.runtime_versions[split("-", var.accelerator_type)[0]])
}

resource "google_tpu_v2_vm" "node" {
  count = var.node_count

  provider = google-beta

  name             = "${var.name}-${count.index}"
  description      = "Node ${count.index} of ${var.name}"
  project          = var.project
  zone             = var.zone
  accelerator_type = var.accelerator_type
  runtime_version  = local.runtime_version
  labels           = local.labels
  metadata         = var.startup_script == null ? {} : { startup-script = var.startup_script }

  network_config {
    network             = var.network
    subnetwork          = var.subnetwork
    enable_external_ips = false
  }

  scheduling_config {
    spot = var.purchase_option == "spot"
  }

  dynamic "service_account" {
    for_each = var.service_account_email[*]

    content {
      email = service_account.value
      scope = ["https://www.googleapis.com/auth/cloud-platform"]
    }
  }
}
