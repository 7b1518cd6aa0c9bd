output "name" {
  description = "Name of the managed instance group."
  value       = var.name
}

output "group_id" {
  description = "Id of the managed instance group."
  value       = local.group_id
}

output "node_count" {
  description = "Nodes the group keeps running."
  value       = var.node_count
}

output "instance_template" {
  description = "Self link of the instance template."
  value       = google_compute_instance_template.pool.self_link_unique
}
