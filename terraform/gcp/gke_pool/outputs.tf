output "name" {
  description = "Name of the node pool; of slices over several machines the names, between spaces."
  value       = join(" ", google_container_node_pool.pool[*].name)
}

output "ids" {
  description = "Id of the node pool, or of that of each slice."
  value       = google_container_node_pool.pool[*].id
}

output "node_count" {
  description = "Nodes, or slices over several, that the pool keeps running, or starts at most where they are queued."
  value       = local.node_count
}

output "node_selectors" {
  description = "Label that pods select to run on this pool, or on each slice."
  value       = [for name in google_container_node_pool.pool[*].name : { "cloud.google.com/gke-nodepool" = name }]
}
