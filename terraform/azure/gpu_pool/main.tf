locals {
  more_tags = var.cuda_line == null ? {} : { cuda_line = var.cuda_line }

  spot                = var.purchase_option == "spot"
  mixed               = var.regular_base > 0 || var.regular_percentage > 0
  zones               = length(var.zones) > 0 ? var.zones : null
  zone                = try(var.zones[0], null)
  resource_group_name = coalesce(var.resource_group_name, one(azurerm_resource_group.pool[*].name))
  subnet_id           = coalesce(var.subnet_id, one(azurerm_subnet.pool[*].id))
  nat_gateway         = var.nat_gateway && var.subnet_id == null
  reaches_out         = var.nvidia_driver_extension || var.container_image != null

  capacity_reservation_group_id = var.reserve_capacity ? one(azurerm_capacity_reservation_group.pool[*].id) : var.capacity_reservation_group_id
  proximity_placement_group_id  = one(azurerm_proximity_placement_group.pool[*].id)

  hpc_image = {
    publisher = "microsoft-dsvm"
    offer     = "ubuntu-hpc"
    sku       = var.hpc_image_sku
    version   = "latest"
  }
  image  = var.hpc_image ? local.hpc_image : var.image
  images = var.image_id == null ? [local.image] : []

  # Arguments of the container between single quotes, as a shell reads them.
  node_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    prepare = base64encode(file("${path.module}/prepare-node.sh"))
    run = var.container_image == null ? null : base64encode(templatefile("${path.module}/container.sh.tftpl", {
      words     = [for word in concat([var.container_image], var.container_command) : "'${replace(word, "'", "'\\''")}'"]
      cuda_line = var.cuda_line
      fabric    = var.single_placement_group
      amd       = var.gpu_vendor == "amd"
    }))
    amd    = var.gpu_vendor == "amd"
    check  = var.repair_nodes ? filebase64("${path.module}/check-node.sh") : null
    answer = filebase64("${path.module}/answer-check.sh")
  })
  custom_data = base64encode(var.user_data == null ? local.node_data : var.user_data)

  # A placement group holds 100 nodes: more of them are in further scale sets, each of whole jobs.
  # https://learn.microsoft.com/azure/virtual-machines/setup-infiniband#cluster-configuration-options
  placement_size = 100 - 100 % min(var.gang_nodes, 100)
  scale_sets     = var.single_placement_group ? max(1, ceil(local.largest_count / local.placement_size)) : 1
  set_names      = [for n in range(local.scale_sets) : n == 0 ? var.name : "${var.name}-${n}"]
  set_sizes      = var.single_placement_group ? [for n in range(local.scale_sets) : local.placement_size] : [local.largest_count]
  set_counts     = [for n, size in local.set_sizes : min(size, max(0, local.node_count - n * size))]

  extensions = concat(
    !var.nvidia_driver_extension ? [] : [{
      name      = "nvidia-gpu-driver"
      publisher = "Microsoft.HpcCompute"
      type      = "NvidiaGpuDriverLinux"
      version   = "1.11"
      upgrades  = true
      settings  = null
    }],
    # It asks the node itself, over HTTP: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-health-extension
    !var.repair_nodes ? [] : [{
      name      = "health"
      publisher = "Microsoft.ManagedServices"
      type      = "ApplicationHealthLinux"
      version   = "1.0"
      upgrades  = null
      settings  = jsonencode({ protocol = "http", port = 8490, requestPath = "/", intervalInSeconds = 60 })
    }],
  )

  is_gang = var.gang_nodes > 1
  is_near = coalesce(var.proximity_placement_group, local.is_gang && !var.single_placement_group)
}

# Sizes with InfiniBand: all nodes in one placement group, which uniform orchestration makes sure of.
# https://learn.microsoft.com/azure/virtual-machines/setup-infiniband#cluster-configuration-options
resource "azurerm_linux_virtual_machine_scale_set" "pool" {
  count = var.single_placement_group ? local.scale_sets : 0

  name                            = local.set_names[count.index]
  computer_name_prefix            = local.set_names[count.index]
  location                        = var.location
  resource_group_name             = local.resource_group_name
  sku                             = var.vm_size
  instances                       = local.set_counts[count.index]
  zones                           = local.zones
  overprovision                   = false
  single_placement_group          = true
  platform_fault_domain_count     = 1
  upgrade_mode                    = "Manual"
  priority                        = local.spot ? "Spot" : "Regular"
  eviction_policy                 = local.spot ? var.eviction_policy : null
  max_bid_price                   = local.spot ? var.spot_max_price : null
  admin_username                  = var.admin_username
  disable_password_authentication = true
  encryption_at_host_enabled      = var.encryption_at_host_enabled
  proximity_placement_group_id    = local.proximity_placement_group_id
  source_image_id                 = var.image_id
  custom_data                     = local.custom_data
  tags                            = local.tags

  admin_ssh_key {
    username   = var.admin_username
    public_key = var.ssh_public_key
  }

  dynamic "source_image_reference" {
    for_each = local.images

    content {
      publisher = source_image_reference.value.publisher
      offer     = source_image_reference.value.offer
      sku       = source_image_reference.value.sku
      version   = source_image_reference.value.version
    }
  }

  os_disk {
    caching              = "ReadOnly"
    storage_account_type = "Premium_LRS"
    disk_size_gb         = var.os_disk_gib
  }

  network_interface {
    name                          = "primary"
    primary                       = true
    enable_accelerated_networking = var.accelerated_networking_enabled
    network_security_group_id     = azurerm_network_security_group.pool.id

    ip_configuration {
      name                           = "internal"
      primary                        = true
      subnet_id                      = local.subnet_id
      application_security_group_ids = [azurerm_application_security_group.nodes.id]
    }
  }

  dynamic "identity" {
    for_each = length(var.identity_ids) > 0 ? [1] : []

    content {
      type         = "UserAssigned"
      identity_ids = var.identity_ids
    }
  }

  dynamic "extension" {
    for_each = local.extensions

    content {
      name                       = extension.value.name
      publisher                  = extension.value.publisher
      type                       = extension.value.type
      type_handler_version       = extension.value.version
      auto_upgrade_minor_version = extension.value.upgrades
      settings                   = extension.value.settings
    }
  }

  # What the node finds broken is replaced; a node has 90 minutes, the most there is, to be ready.
  dynamic "automatic_instance_repair" {
    for_each = var.repair_nodes ? [1] : []

    content {
      enabled      = true
      grace_period = "PT90M"
      action       = "Replace"
    }
  }

  # Nothing is fetched before there is a way out.
  depends_on = [
    azurerm_nat_gateway_public_ip_association.way_out,
    azurerm_subnet_nat_gateway_association.way_out,
    azurerm_subnet_network_security_group_association.pool,
  ]

  lifecycle {
    precondition {
      condition     = var.gang_nodes <= 100
      error_message = "A single placement group holds at most 100 nodes, and a job lies in one."
    }

    precondition {
      condition     = !local.is_gang || length(var.zones) <= 1
      error_message = "Nodes of one job lie in one zone: give zones no more than one."
    }

    precondition {
      condition     = !local.mixed
      error_message = "Nodes in one placement group are all regular or all spot: leave regular_base and regular_percentage at 0."
    }

    precondition {
      condition     = !var.repair_nodes || (var.gpu_vendor == "nvidia" && var.user_data == null)
      error_message = "repair_nodes is for NVIDIA GPUs without user_data."
    }

    precondition {
      condition     = !var.hpc_image || !var.nvidia_driver_extension
      error_message = "The HPC image brings its driver: set nvidia_driver_extension to false."
    }

    precondition {
      condition     = var.container_image == null || var.user_data == null
      error_message = "Give a container_image or user_data, not both."
    }

    precondition {
      condition     = local.capacity_reservation_group_id == null
      error_message = "Capacity is not reserved for nodes in one placement group."
    }
  }
}

# All other sizes: flexible orchestration, which can hold regular nodes beside spot ones.
resource "azurerm_orchestrated_virtual_machine_scale_set" "pool" {
  count = var.single_placement_group ? 0 : 1

  name                          = var.name
  location                      = var.location
  resource_group_name           = local.resource_group_name
  sku_name                      = var.vm_size
  instances                     = local.node_count
  zones                         = local.zones
  single_placement_group        = false
  platform_fault_domain_count   = 1
  upgrade_mode                  = "Manual"
  priority                      = local.spot ? "Spot" : "Regular"
  eviction_policy               = local.spot ? var.eviction_policy : null
  max_bid_price                 = local.spot ? var.spot_max_price : null
  encryption_at_host_enabled    = var.encryption_at_host_enabled
  capacity_reservation_group_id = local.capacity_reservation_group_id
  proximity_placement_group_id  = local.proximity_placement_group_id
  source_image_id               = var.image_id
  tags                          = local.tags

  dynamic "priority_mix" {
    for_each = local.spot ? [1] : []

    content {
      base_regular_count            = var.regular_base
      regular_percentage_above_base = var.regular_percentage
    }
  }

  os_profile {
    custom_data = local.custom_data

    linux_configuration {
      computer_name_prefix            = var.name
      admin_username                  = var.admin_username
      disable_password_authentication = true

      admin_ssh_key {
        username   = var.admin_username
        public_key = var.ssh_public_key
      }
    }
  }

  dynamic "source_image_reference" {
    for_each = local.images

    content {
      publisher = source_image_reference.value.publisher
      offer     = source_image_reference.value.offer
      sku       = source_image_reference.value.sku
      version   = source_image_reference.value.version
    }
  }

  os_disk {
    caching              = "ReadOnly"
    storage_account_type = "Premium_LRS"
    disk_size_gb         = var.os_disk_gib
  }

  network_interface {
    name                          = "primary"
    primary                       = true
    enable_accelerated_networking = var.accelerated_networking_enabled
    network_security_group_id     = azurerm_network_security_group.pool.id

    ip_configuration {
      name                           = "internal"
      primary                        = true
      subnet_id                      = local.subnet_id
      application_security_group_ids = [azurerm_application_security_group.nodes.id]
    }
  }

  dynamic "identity" {
    for_each = length(var.identity_ids) > 0 ? [1] : []

    content {
      type         = "UserAssigned"
      identity_ids = var.identity_ids
    }
  }

  dynamic "extension" {
    for_each = local.extensions

    content {
      name                               = extension.value.name
      publisher                          = extension.value.publisher
      type                               = extension.value.type
      type_handler_version               = extension.value.version
      auto_upgrade_minor_version_enabled = extension.value.upgrades
      settings                           = extension.value.settings
    }
  }

  # What the node finds broken is replaced; a node has 90 minutes, the most there is, to be ready.
  dynamic "automatic_instance_repair" {
    for_each = var.repair_nodes ? [1] : []

    content {
      enabled      = true
      grace_period = "PT90M"
      action       = "Replace"
    }
  }

  depends_on = [
    azurerm_capacity_reservation.pool,
    azurerm_nat_gateway_public_ip_association.way_out,
    azurerm_subnet_nat_gateway_association.way_out,
    azurerm_subnet_network_security_group_association.pool,
  ]

  lifecycle {
    precondition {
      condition     = local.spot || !local.mixed
      error_message = "regular_base and regular_percentage are for spot pools: an on-demand pool is all regular."
    }

    precondition {
      condition     = !var.repair_nodes || (var.gpu_vendor == "nvidia" && var.user_data == null)
      error_message = "repair_nodes is for NVIDIA GPUs without user_data."
    }

    precondition {
      condition     = !var.hpc_image || !var.nvidia_driver_extension
      error_message = "The HPC image brings its driver: set nvidia_driver_extension to false."
    }

    precondition {
      condition     = var.container_image == null || var.user_data == null
      error_message = "Give a container_image or user_data, not both."
    }

    precondition {
      condition     = local.capacity_reservation_group_id == null || !local.spot
      error_message = "Capacity is not reserved for spot nodes."
    }
  }
}
