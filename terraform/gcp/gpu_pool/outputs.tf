output "name" {
  description = "Name of the managed instance group."
  value       = var.name
}

output "group_id" {
  description = "Id of the managed instance group."
  value       = local.group_id
}

output "node_count" {
  description = "Nodes the group keeps running, or asks for once."
  value       = local.node_count
}

output "instance_template" {
  description = "Self link of the instance template."
  value       = google_compute_instance_template.pool.self_link_unique
}

output "reservation" {
  description = "Reservation that the nodes start in, or that is made here; null for none."
  value       = var.reservation != null ? var.reservation : one(google_compute_reservation.pool[*].name)
}
