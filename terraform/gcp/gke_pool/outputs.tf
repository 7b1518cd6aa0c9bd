output "name" {
  description = "Name of the node pool."
  value       = google_container_node_pool.pool.name
}

output "id" {
  description = "Id of the node pool."
  value       = google_container_node_pool.pool.id
}

output "node_count" {
  description = "Nodes that the pool keeps running, or starts at most where they are queued."
  value       = local.node_count
}

output "node_selector" {
  description = "Label that pods select to run on this pool."
  value       = { "cloud.google.com/gke-nodepool" = google_container_node_pool.pool.name }
}
