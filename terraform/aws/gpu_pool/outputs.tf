output "name" {
  description = "Name of the auto scaling group."
  value       = aws_autoscaling_group.pool.name
}

output "node_count" {
  description = "Nodes the group keeps running."
  value       = aws_autoscaling_group.pool.desired_capacity
}

output "launch_template_id" {
  description = "Launch template of the nodes."
  value       = aws_launch_template.pool.id
}

output "security_group_id" {
  description = "Security group of the nodes; let storage accept it."
  value       = aws_security_group.pool.id
}

output "image_id" {
  description = "Image the nodes start from. The lookup reads a public parameter, so it is no secret."
  value       = local.image_id
}
