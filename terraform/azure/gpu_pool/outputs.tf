output "name" {
  description = "Name of the scale set."
  value       = azurerm_linux_virtual_machine_scale_set.pool.name
}

output "id" {
  description = "Resource id of the scale set."
  value       = azurerm_linux_virtual_machine_scale_set.pool.id
}

output "node_count" {
  description = "Nodes the scale set keeps running."
  value       = azurerm_linux_virtual_machine_scale_set.pool.instances
}

output "resource_group_name" {
  description = "Resource group that everything is in."
  value       = local.resource_group_name
}

output "subnet_id" {
  description = "Subnet of the nodes."
  value       = local.subnet_id
}
