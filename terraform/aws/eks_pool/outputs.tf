output "name" {
  description = "Name of the node group."
  value       = aws_eks_node_group.pool.node_group_name
}

output "node_count" {
  description = "Nodes the group keeps running."
  value       = local.node_count
}

output "launch_template_id" {
  description = "Launch template of the nodes."
  value       = aws_launch_template.pool.id
}

output "device" {
  description = "Resource that pods ask for to get an accelerator, once its device plugin runs in the cluster; also the key of the taint."
  value       = local.device
}

output "efa_interface_count" {
  description = "Elastic Fabric Adapter interfaces of a node."
  value       = local.efa_count
}

# https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin, read 2026-11-22
output "device_plugins" {
  description = "Commands that install what the cluster needs once, before pods can ask for the devices of these nodes."
  value = concat(
    local.device == "aws.amazon.com/neuron" ? [
      "helm upgrade --install neuron-helm-chart oci://public.ecr.aws/neuron/neuron-helm-chart --namespace kube-system",
      ] : [
      "helm upgrade --install nvidia-device-plugin nvidia-device-plugin --repo https://nvidia.github.io/k8s-device-plugin --namespace kube-system",
    ],
    local.efa_count == 0 ? [] : [
      "helm upgrade --install aws-efa-k8s-device-plugin aws-efa-k8s-device-plugin --repo https://aws.github.io/eks-charts --namespace kube-system",
    ],
  )
}
