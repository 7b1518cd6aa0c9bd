output "names" {
  description = "Names of the TPU nodes."
  value       = concat(google_tpu_v2_vm.node[*].name, google_tpu_v2_queued_resource.node[*].name)
}

output "ids" {
  description = "Ids of the TPU nodes, or of the queued resources that start them."
  value       = concat(google_tpu_v2_vm.node[*].id, google_tpu_v2_queued_resource.node[*].id)
}

output "node_count" {
  description = "TPU nodes that are kept running or waited for."
  value       = local.node_count
}

output "runtime_version" {
  description = "TPU software version of the nodes."
  value       = local.runtime_version
}
