locals {
  # Tag values hold at most 256 characters.
  tag_text = {
    plan      = var.plan_id
    workloads = join(" ", var.workloads)
    team      = join(" ", var.teams)
  }
  tags = merge(
    { for key, text in local.tag_text : key => substr(text, 0, 256) if text != "" },
    { managed_by = "terraform" },
    var.tags,
  )
  spot                = var.purchase_option == "spot"
  resource_group_name = coalesce(var.resource_group_name, one(azurerm_resource_group.pool[*].name))
  subnet_id           = coalesce(var.subnet_id, one(azurerm_subnet.pool[*].id))
  hpc_image = {
    publisher = "microsoft-dsvm"
    offer     = "ubuntu-hpc"
    sku       = "2204"
    version   = "latest"
  }
  image = var.hpc_image ? local.hpc_image : var.image
}

resource "azurerm_resource_group" "pool" {
  count = var.resource_group_name == null ? 1 : 0

  name     = "${var.name}-rg"
  location = var.location
  tags     = local.tags
}

resource "azurerm_virtual_network" "pool" {
  count = var.subnet_id == null ? 1 : 0

  name                = "${var.name}-net"
  location            = var.location
  resource_group_name = local.resource_group_name
  address_space       = [var.address_space]
  tags                = local.tags
}

resource "azurerm_subnet" "pool" {
  count = var.subnet_id == null ? 1 : 0

  name                 = "nodes"
  resource_group_name  = local.resource_group_name
  virtual_network_name = azurerm_virtual_network.pool[0].name
  address_prefixes     = [var.address_space]
}

# No rule is added: the built-in ones let the network's own nodes in and nothing else.
resource "azurerm_network_security_group" "pool" {
  name                = "${var.name}-nsg"
  location            = var.location
  resource_group_name = local.resource_group_name
  tags                = local.tags
}

resource "azurerm_linux_virtual_machine_scale_set" "pool" {
  name                            = var.name
  computer_name_prefix            = var.name
  location                        = var.location
  resource_group_name             = local.resource_group_name
  sku                             = var.vm_size
  instances                       = var.node_count
  zones                           = length(var.zones) > 0 ? var.zones : null
  overprovision                   = false
  single_placement_group          = var.single_placement_group
  upgrade_mode                    = "Manual"
  priority                        = local.spot ? "Spot" : "Regular"
  eviction_policy                 = local.spot ? var.eviction_policy : null
  max_bid_price                   = local.spot ? var.spot_max_price : null
  admin_username                  = var.admin_username
  disable_password_authentication = true
  encryption_at_host_enabled      = var.encryption_at_host_enabled
  source_image_id                 = var.image_id
  custom_data                     = var.user_data == null ? null : base64encode(var.user_data)
  tags                            = local.tags

  admin_ssh_key {
    username   = var.admin_username
    public_key = var.ssh_public_key
  }

  dynamic "source_image_reference" {
    for_each = var.image_id == null ? [local.image] : []

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
    name                      = "primary"
    primary                   = true
    network_security_group_id = azurerm_network_security_group.pool.id

    ip_configuration {
      name      = "internal"
      primary   = true
      subnet_id = local.subnet_id
    }
  }

  dynamic "extension" {
    for_each = var.nvidia_driver_extension ? [1] : []

    content {
      name                       = "nvidia-gpu-driver"
      publisher                  = "Microsoft.HpcCompute"
      type                       = "NvidiaGpuDriverLinux"
      type_handler_version       = "1.11"
      auto_upgrade_minor_version = true
    }
  }

  lifecycle {
    precondition {
      condition     = !var.single_placement_group || var.node_count <= 100
      error_message = "A single placement group holds at most 100 nodes."
    }

    precondition {
      condition     = !var.hpc_image || !var.nvidia_driver_extension
      error_message = "The HPC image brings its driver: set nvidia_driver_extension to false."
    }
  }
}
