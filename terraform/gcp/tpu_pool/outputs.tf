output "names" {
  description = "Names of the TPU nodes."
  value       = google_tpu_v2_vm.node[*].name
}

output "ids" {
  description = "Ids of the TPU nodes."
  value       = google_tpu_v2_vm.node[*].id
}

output "node_count" {
  description = "TPU nodes that are kept running."
  value       = length(google_tpu_v2_vm.node)
}

output "runtime_version" {
  description = "TPU software version of the nodes."
  value       = local.runtime_version
}
