resource "azurerm_proximity_placement_group" "pool" {
  count = local.is_near ? 1 : 0

  name                = "${var.name}-near"
  location            = var.location
  resource_group_name = local.resource_group_name
  allowed_vm_sizes    = local.zone == null ? null : [var.vm_size]
  zone                = local.zone
  tags                = local.tags

  lifecycle {
    precondition {
      condition     = length(var.zones) <= 1
      error_message = "A proximity placement group is in one zone at most: give zones no more than one."
    }
  }
}

# Paid like running nodes from the moment it exists, whether nodes run in it or not.
resource "azurerm_capacity_reservation_group" "pool" {
  count = var.reserve_capacity ? 1 : 0

  name                = "${var.name}-capacity"
  location            = var.location
  resource_group_name = local.resource_group_name
  zones               = local.zones
  tags                = local.tags

  lifecycle {
    precondition {
      condition     = var.capacity_reservation_group_id == null
      error_message = "Set reserve_capacity, or give a capacity_reservation_group_id, not both."
    }

    precondition {
      condition     = length(var.zones) <= 1
      error_message = "A capacity reservation is in one zone at most: give zones no more than one."
    }
  }
}

resource "azurerm_capacity_reservation" "pool" {
  count = var.reserve_capacity ? 1 : 0

  name                          = var.name
  capacity_reservation_group_id = azurerm_capacity_reservation_group.pool[0].id
  zone                          = local.zone
  tags                          = local.tags

  sku {
    name     = var.vm_size
    capacity = var.node_count
  }

  lifecycle {
    # https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview#limitations-and-restrictions
    precondition {
      condition     = !can(regex("^Standard_(ND|NC\\d+adi?s_H100)", var.vm_size))
      error_message = "Azure does not reserve capacity for ND and NC H100 sizes."
    }

    precondition {
      condition     = !local.spot && !var.single_placement_group && !local.is_near
      error_message = "Capacity is reserved neither for spot nodes nor for nodes in one placement group; a scale set with spot nodes takes none for its regular ones either: reserve it for a scale set without spot nodes."
    }
  }
}
