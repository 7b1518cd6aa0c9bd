locals {
  more_tags = {}

  # Label values hold at most 63 letters, digits, dots, hyphens and underscores, with a letter or a digit at both ends.
  label_text = { for key, text in local.plan_tags : key => substr(replace(text, "/[^A-Za-z0-9._-]+/", "-"), 0, 63) }
  labels = merge(
    { for key, text in local.label_text : key => trim(text, "-._") if trim(text, "-._") != "" },
    { pool = var.name },
    var.node_labels,
    local.spot ? { "kubernetes.azure.com/scalesetpriority" = "spot" } : {},
  )

  # Pods start its nodes, at most those of the month; a month without nodes has none whatever pods ask for.
  autoscaled = var.scale_to_zero && var.node_count > 0

  spot   = var.purchase_option == "spot"
  taints = concat(var.node_taints, local.spot ? ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"] : [])

  # Names of node pools are at most 12 letters and digits.
  pool_name      = "${substr(replace(var.name, "-", ""), 0, 4)}${substr(sha256(var.name), 0, 8)}"
  temporary_name = "t${substr(sha256(var.name), 0, 11)}"
}

resource "azurerm_kubernetes_cluster_node_pool" "pool" {
  name                          = local.pool_name
  temporary_name_for_rotation   = local.temporary_name
  kubernetes_cluster_id         = var.kubernetes_cluster_id
  mode                          = "User"
  vm_size                       = var.vm_size
  node_count                    = local.autoscaled ? null : local.node_count
  auto_scaling_enabled          = local.autoscaled
  min_count                     = local.autoscaled ? 0 : null
  max_count                     = local.autoscaled ? var.node_count : null
  zones                         = length(var.zones) > 0 ? var.zones : null
  vnet_subnet_id                = var.subnet_id
  node_public_ip_enabled        = false
  priority                      = local.spot ? "Spot" : "Regular"
  eviction_policy               = local.spot ? var.eviction_policy : null
  spot_max_price                = local.spot ? var.spot_max_price : null
  capacity_reservation_group_id = var.capacity_reservation_group_id
  gpu_driver                    = var.gpu_driver
  host_encryption_enabled       = var.encryption_at_host_enabled
  os_type                       = "Linux"
  os_sku                        = "Ubuntu"
  os_disk_size_gb               = var.os_disk_gib
  node_labels                   = local.labels
  node_taints                   = local.taints
  tags                          = local.tags

  lifecycle {
    precondition {
      condition     = var.capacity_reservation_group_id == null || !local.spot
      error_message = "Capacity is not reserved for spot nodes."
    }

    # https://learn.microsoft.com/azure/virtual-machines/setup-infiniband#cluster-configuration-options
    precondition {
      condition     = var.gang_nodes == 1 || (length(var.zones) <= 1 && local.largest_count <= 100)
      error_message = "Nodes of one job lie in one zone and one placement group, which holds at most 100: give zones no more than one."
    }
  }
}
