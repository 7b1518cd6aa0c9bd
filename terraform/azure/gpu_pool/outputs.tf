output "name" {
  description = "Name of the scale set; further ones end in -1, -2 ..."
  value       = var.name
}

output "ids" {
  description = "Resource id of the scale set, or of that of each placement group."
  value       = concat(azurerm_linux_virtual_machine_scale_set.pool[*].id, azurerm_orchestrated_virtual_machine_scale_set.pool[*].id)
}

output "node_count" {
  description = "Nodes that are kept running."
  value       = sum(concat(azurerm_linux_virtual_machine_scale_set.pool[*].instances, azurerm_orchestrated_virtual_machine_scale_set.pool[*].instances))
}

output "resource_group_name" {
  description = "Resource group that everything is in."
  value       = local.resource_group_name
}

output "subnet_id" {
  description = "Subnet of the nodes."
  value       = local.subnet_id
}

output "capacity_reservation_group_id" {
  description = "Capacity reservation group of the nodes; null where there is none."
  value       = local.capacity_reservation_group_id
}
